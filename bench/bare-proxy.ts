// A bare pass-through, in a process of its own: what the least of a gateway costs on this Node. It reads nothing of what
// it hands on, knows nobody and remembers nothing.
import { parseArgs } from "node:util";
import { openPassThrough } from "./pass-through.ts";
import { serveOnRequest } from "./serve-on-request.ts";

const { values } = parseArgs({ options: { "upstream-port": { type: "string", default: "0" } } });
const { port, close } = await openPassThrough({
  upstreamPort: Number(values["upstream-port"]),
  chooseOutlet: (response) => response,
});
serveOnRequest({ port, key: "", close });
