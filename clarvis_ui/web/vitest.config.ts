import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    // weekdays and dates are told in local time
    env: { TZ: 'UTC' },
    // only what hangs is ended: on a machine that has much else to do, a test takes what it takes
    testTimeout: 120_000,
  },
});
