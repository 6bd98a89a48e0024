// A bare pass-through, in a separate process: the minimal cost of a gateway on this Node. It parses nothing,
// authenticates nothing and stores nothing.
import { parseArgs } from "node:util";
import { openPassThrough } from "./pass-through.ts";
import { serveOnRequest } from "./serve-on-request.ts";

const { values } = parseArgs({ options: { "upstream-port": { type: "string", default: "0" } } });
const { port, close } = await openPassThrough({
  upstreamPort: Number(values["upstream-port"]),
  chooseOutlet: (response) => response,
});
serveOnRequest({ port, key: "", close });
