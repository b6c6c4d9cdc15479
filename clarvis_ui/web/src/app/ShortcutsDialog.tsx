import { Dialog } from '../ui/Dialog';
import './shortcuts.css';

const KEYS: readonly { where: string; keys: readonly [keys: string, does: string][] }[] = [
  {
    where: 'Anywhere',
    keys: [
      ['Ctrl K', 'say what you want'],
      ['/', 'filter the sessions; Enter opens the first'],
      ['n', 'new session'],
      ['i', 'what waits for you'],
      ['F2', 'rename the session that has the focus in the list'],
      ['?', 'these keys'],
    ],
  },
  {
    where: 'In a conversation',
    keys: [
      ['m', 'write a message'],
      ['j k', 'to the next prompt and the one before'],
      ['Home End', 'to its beginning and its end'],
      ['Ctrl F', 'find; Enter and Shift Enter lead from place to place'],
      ['Esc', 'stop what runs; what waits in line is held'],
    ],
  },
  {
    where: 'In the message',
    keys: [
      ['Enter', 'send; while Claude works it goes next in line'],
      ['Ctrl Enter', 'stop what runs and say this next'],
    ],
  },
  {
    where: 'On a question',
    keys: [
      ['a', 'allow, approve'],
      ['d', 'deny with a reason'],
      ['1 2 3', 'one of the choices'],
    ],
  },
];

export function ShortcutsDialog({ onClose }: { onClose(): void }) {
  return (
    <Dialog name="Keys" kind="keys" onClose={onClose}>
      {KEYS.map(({ where, keys }) => (
        <section key={where}>
          <h2>{where}</h2>
          <dl>
            {keys.map(([names, does]) => (
              <div key={names}>
                <dt>
                  {names.split(' ').map((name) => (
                    <kbd key={name}>{name}</kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
