import type { Answer, Parameter, Sample } from "../../../api/reference-document.ts";
import { writeModelSamples, writeRequestSamples } from "../../../parts/samples/code-samples.ts";
import { writeWireSamples } from "../../../parts/samples/wire-samples.ts";
import { isFile, writeFetch, writeOperationCurl, writeRequests } from "./plain-samples.ts";
import { findSdkCall, writePythonSdk, writeTypescriptSdk } from "./sdk-samples.ts";

/** The address in the documents; the page replaces it with its own. */
const documentedBaseUrl = "http://localhost:4242/v1";

export type SampleOperation = {
  id: string;
  method: string;
  path: string;
  parameters: readonly Parameter[];
  answers: readonly Answer[];
};

/** The example body. Form values that start with `@` name a file. */
export type SampleRequest = { mediaType: string; example: unknown } | null;

type Body = Record<string, unknown>;

/** One call in every language and client. */
export function writeOperationSamples(operation: SampleOperation, request: SampleRequest): [Sample, ...Sample[]] {
  const command = commands[operation.id]?.(operation);
  const samples = writeLanguages(operation, request);
  return command === undefined ? samples : [...samples, { id: "cli", label: "CLI", code: command }];
}

function writeLanguages(operation: SampleOperation, request: SampleRequest): [Sample, ...Sample[]] {
  const body = (request?.example ?? {}) as Body;
  const model = { id: String(body.model), type: "chat" as const, capabilities: [] };
  switch (operation.id) {
    case "createResponse":
      return writeWireSamples("responses", model, documentedBaseUrl);
    case "createMessage":
      return writeWireSamples("messages", model, documentedBaseUrl);
    case "createAvatar":
      // Its files are uploaded first.
      return writeModelSamples({ ...model, type: "avatar" }, documentedBaseUrl);
  }
  const type = firstCalls[operation.id];
  if (type !== undefined) {
    const fields = Object.entries(body).filter(([, value]) => !isFile(value));
    return writeRequestSamples({ type, body: Object.fromEntries(fields), baseUrl: documentedBaseUrl });
  }
  const sdk = findSdkCall(operation.id);
  const input = { ...operation, request, baseUrl: documentedBaseUrl };
  return [
    { id: "curl", label: "curl", code: writeOperationCurl(input) },
    { id: "python", label: "Python", code: sdk === null ? writeRequests(input) : writePythonSdk(sdk, input) },
    { id: "typescript", label: "TypeScript", code: sdk === null ? writeFetch(input) : writeTypescriptSdk(sdk, input) },
  ];
}

/** Operations with a first call on the models' pages. */
const firstCalls: Readonly<Record<string, Parameters<typeof writeRequestSamples>[0]["type"]>> = {
  createChatCompletion: "chat",
  createEmbedding: "embedding",
  createSpeech: "speech",
  createTranscription: "transcription",
  createImage: "image",
  createVideo: "video",
  createDrama: "drama",
};

function getId({ parameters }: SampleOperation): string {
  return parameters.find(({ place }) => place === "path")?.example ?? "";
}

/** The CLI equivalent, if there is one. */
const commands: Readonly<Record<string, (operation: SampleOperation) => string>> = {
  listModels: () => "sluice models",
  getModel: (operation) => `sluice models ${getId(operation)}`,
  getBalance: () => "sluice balance",
  createChatCompletion: () => 'sluice chat "What does a sluice do?"',
  createImage: () => 'sluice image "A lighthouse at dusk" -o lighthouse.png',
  createVideo: () => 'sluice video "Waves roll in at night" -o waves.mp4',
  createAvatar: () => "sluice avatar --person portrait.png --audio voice.mp3 -o avatar.mp4",
  createSpeech: () => 'sluice speech "The gate is open." -o speech.mp3',
  createDrama: () => 'sluice drama --title "The Lighthouse" --script @story.txt --stage script',
  listTasks: () => "sluice tasks",
  getTask: (operation) => `sluice tasks show ${getId(operation)}`,
  cancelTask: (operation) => `sluice tasks cancel ${getId(operation)}`,
  createWebhookSession: () => "sluice webhooks listen --forward-to http://localhost:3000/hook",
};
