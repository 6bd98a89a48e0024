// Measures side by side in one run: `npm run bench -- edge`. Numbers of different runs or machines do not compare;
// the ratios and the goals do.
import { measureEdge } from "./measure-edge.ts";
import { measureLedger } from "./measure-ledger.ts";

const benches: Record<string, () => Promise<void>> = { edge: measureEdge, ledger: measureLedger };

const [name = ""] = process.argv.slice(2);
const run = benches[name];
if (run === undefined) {
  console.error(`Write which: npm run bench -- ${Object.keys(benches).join("|")}`);
  process.exitCode = 2;
} else {
  await run();
}
