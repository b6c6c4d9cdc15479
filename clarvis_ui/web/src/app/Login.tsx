import { useSignal } from '@preact/signals';
import { Logo } from '../ui/Logo';
import type { Auth } from './auth';
import './login.css';

/** How to get in: the link that the terminal printed, or the code that is part of it. */
export function Login({ auth }: { auth: Auth }) {
  const code = useSignal('');
  const failure = auth.failure.value;
  const ready = code.value.trim() !== '' && !auth.isLoggingIn.value;

  return (
    <main class="login">
      <div class="login-card">
        <Logo size={32} />
        <h1>Log in to Clarvis</h1>
        <p>Open the link that your terminal printed when the keeper started. For a new one, run:</p>
        <p>
          <code class="login-command">claudekeeper open</code>
        </p>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (ready) void auth.logIn(code.value);
          }}
        >
          <label for="code">Or type the code at the end of the link</label>
          <div class="login-entry">
            <input
              id="code"
              name="code"
              placeholder="XXXX-XXXX-XXXX"
              autocomplete="one-time-code"
              autocapitalize="characters"
              spellcheck={false}
              maxLength={40}
              aria-invalid={failure !== null}
              aria-describedby="login-failure"
              value={code.value}
              onInput={(event) => {
                code.value = event.currentTarget.value;
              }}
            />
            <button type="submit" class="strong" disabled={!ready}>
              {auth.isLoggingIn.value ? 'Logging in…' : 'Log in'}
            </button>
          </div>
          <p id="login-failure" class="login-failure" role="alert">
            {failure?.sentence}
          </p>
        </form>
      </div>
    </main>
  );
}
