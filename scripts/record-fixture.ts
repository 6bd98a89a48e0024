// Records a vendor of media: `VENDOR_KEY=… node scripts/record-fixture.ts --kind luma --model ray-2 --request job.json`.
// The file has the request of an adapter: {"type": "video", "prompt": "Waves", "durationSeconds": 5, "aspectRatio": "16:9"}.
// This makes a real job, which the vendor charges. Compare the recording with test/harness/upstreams/wires.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { queueVendors } from "../src/providers/queues/queue-vendors.ts";
import { recordVendor } from "../test/harness/upstreams/record-vendor.ts";

const { values } = parseArgs({
  options: {
    kind: { type: "string" },
    model: { type: "string" },
    request: { type: "string" },
    "base-url": { type: "string" },
    to: { type: "string", default: join(import.meta.dirname, "../test/harness/upstreams/recordings") },
  },
});

const kind = Object.keys(queueVendors).find((name) => name === values.kind) as keyof typeof queueVendors | undefined;
const apiKey = process.env.VENDOR_KEY ?? "";
if (kind === undefined) fail(`--kind must be one of these: ${Object.keys(queueVendors).join(", ")}.`);
if (values.model === undefined || values.request === undefined) fail("Name --model and --request.");
if (apiKey === "") fail("Set VENDOR_KEY to the vendor's key.");

const recording = await recordVendor({
  ...{ kind, apiKey, upstreamModel: values.model },
  request: JSON.parse(readFileSync(values.request, "utf8")),
  ...(values["base-url"] === undefined ? {} : { baseUrl: values["base-url"] }),
});
mkdirSync(values.to, { recursive: true });
const path = join(values.to, `${kind}-${recording.outcome}.json`);
writeFileSync(path, `${JSON.stringify(recording, null, 2)}\n`);
console.log(`Recorded ${recording.exchanges.length} exchanges, outcome ${recording.outcome}: ${path}`);
console.log("Read the file before you commit it: only keys, ids, addresses and files are redacted.");

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
