import type { Scan } from '../api/sessions';
import { count } from '../lib/format';

/** The keeper reads every transcript once; until then counts and costs are not known. */
export function ScanProgress({ scan }: { scan: Scan }) {
  return (
    <div class="scan">
      <span id="scan-words">
        counting… {count(scan.done)} of {count(scan.total)}
      </span>
      <div
        class="scan-bar"
        role="progressbar"
        aria-labelledby="scan-words"
        aria-valuemin={0}
        aria-valuemax={scan.total}
        aria-valuenow={scan.done}
      >
        <div style={{ transform: `scaleX(${scan.done / scan.total})` }} />
      </div>
    </div>
  );
}
