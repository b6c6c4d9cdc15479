import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    // weekdays and dates are told in local time
    env: { TZ: 'UTC' },
  },
});
