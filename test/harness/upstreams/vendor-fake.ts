import type { ServerResponse } from "node:http";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { type RecordedRequest, startRecordingServer } from "../servers/recording-server.ts";
import { makePicture } from "./media-samples.ts";
import type { CloneWire } from "./wires/clone-wires.ts";
import type { QueueWire, WireReply } from "./wires/queue-wire.ts";
import type { SpeechWire } from "./wires/speech-wires.ts";

/** A vendor that decides by its wire, so that any client of the vendor can talk to it. */
export type VendorFake<Refusal extends string, State extends string> = AsyncDisposable & {
  origin: string;
  requests: readonly RecordedRequest[];
  /** Why the latest submission was refused as invalid; `null` if it was not. */
  complaint(): string | null;
  /** Submissions are refused with this; `null` accepts those that are valid. */
  refuse(name: Refusal | null): void;
  /** What the next polls find, one after the other; the last one stays. */
  setStates(...names: [State, ...State[]]): void;
};

export type QueueState = Exclude<keyof QueueWire["states"], "lost">;

/** The key in the headers of the wires. */
const usualKey = "sk-1";
const made = Buffer.from("made");
export const spoken = Buffer.from("ID3 spoken");

/** A vendor with a queue: one job, `job-1`, whose state the test sets. */
export async function startQueueFake(
  wire: QueueWire,
  apiKey = usualKey,
): Promise<VendorFake<keyof QueueWire["refusals"], QueueState> & { readonly outputUrl: string }> {
  let states: readonly QueueState[] = ["queued"];
  const schemas = Object.fromEntries(Object.entries(wire.accepts).map(([path, body]) => [path, { body }]));
  const fake = await startFake<keyof QueueWire["refusals"]>(
    { ...wire, accepts: schemas, apiKey },
    (request, response) => {
      const { method, path } = request;
      const example = wire.examples.find((one) => one.path === path);
      const place = (body: unknown): unknown => {
        const written = JSON.stringify(body);
        return written === undefined
          ? undefined
          : JSON.parse(
              written.replaceAll("{url}", `${fake.origin}/made.bin`).replaceAll("{bytes}", made.toString("base64")),
            );
      };
      if (path.startsWith("/made.bin")) {
        response.writeHead(200, { "content-type": "video/mp4" }).end(made);
      } else if (method === "POST" && path in wire.accepts) {
        sendJson(response, [201, place(example?.reply?.done ?? wire.accepted)]);
      } else if (method === wire.cancel?.method && path === wire.cancel.path) {
        sendJson(response, wire.cancel.reply);
      } else if (path === wire.pollPath && method === (wire.pollBody === undefined ? "GET" : "POST")) {
        const [now = "queued", ...later] = states;
        if (later.length > 0) states = later;
        sendJson(response, [200, place(wire.states[now])]);
      } else if (method === "GET" && path === wire.file?.path) {
        sendJson(response, [200, place(wire.file.reply)]);
      } else if (method === "GET" && path === wire.keyPath) {
        sendJson(response, [200, { models: [] }]);
      } else {
        sendJson(response, wire.states.lost ?? [404, { detail: "Not found" }]);
      }
    },
  );
  return {
    ...fake,
    outputUrl: `${fake.origin}/made.bin`,
    setStates(...names) {
      states = names;
    },
  };
}

/** A vendor of speech. */
export async function startSpeechFake(
  wire: SpeechWire,
  apiKey = usualKey,
): Promise<VendorFake<keyof SpeechWire["refusals"], never>> {
  const fake = await startFake<keyof SpeechWire["refusals"]>({ ...wire, apiKey }, (_, response) => {
    if (wire.encode === undefined) response.writeHead(200, { "content-type": "audio/mpeg" }).end(spoken);
    else sendJson(response, [200, wire.encode(spoken)]);
  });
  return { ...fake, setStates: () => {} };
}

/** A vendor that has OpenAI's API for images, with differences. */
export async function startCloneFake(
  wire: CloneWire,
  apiKey = usualKey,
): Promise<VendorFake<"key" | "invalid", never>> {
  const image = (await makePicture({ width: 64, height: 64 }, 1)).bytes.toString("base64");
  const refusals = { key: [401, { error: { message: "Invalid API key" } }], invalid: wire.invalid } as const;
  const fake = await startFake<"key" | "invalid">({ ...wire, refusals, apiKey }, (request, response) => {
    const isDrawn = request.method === "POST" && request.path in wire.accepts;
    sendJson(response, [200, isDrawn ? wire.present(image) : { object: "list", data: [] }]);
  });
  return { ...fake, setStates: () => {} };
}

type FakeWire<Refusal extends string> = {
  apiKey: string;
  headers: Readonly<Record<string, string>>;
  accepts: SpeechWire["accepts"];
  refusals: { readonly [Name in Refusal | "key" | "invalid"]?: WireReply };
};

/** Checks the key and then the request, as vendors do, before `answer` sees it. */
async function startFake<Refusal extends string>(
  { headers, accepts, refusals, apiKey }: FakeWire<Refusal>,
  answer: (request: RecordedRequest, response: ServerResponse) => void,
): Promise<Omit<VendorFake<Refusal, never>, "setStates">> {
  let refusal: Refusal | null = null;
  let complaint: string | null = null;
  const server = await startRecordingServer((request, response) => {
    const [path = "", query = ""] = request.path.split("?");
    if (path === "/made.bin") return answer(request, response);
    const isKnown = Object.entries(headers).every(([name, value]) => {
      return request.headers[name] === value.replace(usualKey, apiKey);
    });
    if (!isKnown) return sendJson(response, refusals.key);
    const accepted = request.method === "POST" ? accepts[path] : undefined;
    if (accepted !== undefined) {
      if (refusal !== null) return sendJson(response, refusals[refusal]);
      complaint =
        findComplaint(accepted.body, JSON.parse(String(request.body))) ??
        findComplaint(accepted.query, Object.fromEntries(new URLSearchParams(query)));
      if (complaint !== null) return sendJson(response, refusals.invalid);
    }
    answer(request, response);
  });
  return {
    origin: server.url,
    requests: server.requests,
    complaint: () => complaint,
    refuse(name) {
      refusal = name;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The first violation of a schema; `null` for a valid value. */
export function findComplaint(schema: TSchema | undefined, value: unknown): string | null {
  if (schema === undefined || Value.Check(schema, value)) return null;
  const [first] = Value.Errors(schema, value);
  return `${first?.instancePath ?? ""} ${first?.message ?? "is invalid"}`;
}

function sendJson(response: ServerResponse, [status, body]: WireReply = [500, {}]): void {
  response
    .writeHead(status, { "content-type": "application/json" })
    .end(body === undefined ? undefined : JSON.stringify(body));
}
