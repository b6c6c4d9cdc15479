/** All of the command bar, fetched when it is first needed. */
export { CommandDialog } from './CommandDialog';
export { CommandPanel } from './CommandPanel';
export { OnItsWay } from './SentNotices';
