import { writeLiteral } from "./write-literal.ts";

export type SampleType = "chat" | "image" | "video" | "avatar" | "drama" | "speech" | "embedding" | "transcription";

/** The model fields that its first call depends on. */
type SampleModel = {
  id: string;
  type: SampleType;
  capabilities: readonly string[];
  limits?: {
    sizes?: readonly string[];
    durations?: readonly number[];
    aspect_ratios?: readonly string[];
    voices?: readonly string[];
  };
};

type Sample = { id: "curl" | "python" | "typescript"; label: string; code: string };
type Body = Readonly<Record<string, unknown>>;
type SampleCall = { type: SampleType; body: Body; baseUrl: string };
type Writer = (call: SampleCall) => string;

const endpoints: Record<SampleType, string> = {
  chat: "/chat/completions",
  image: "/images/generations",
  video: "/videos/generations",
  avatar: "/avatars/generations",
  drama: "/dramas/generations",
  speech: "/audio/speech",
  embedding: "/embeddings",
  transcription: "/audio/transcriptions",
};

/** Local files used by the avatar samples. */
const avatarFiles = { avatar_file_id: "portrait.png", audio_file_id: "voice.mp3" } as const;

/** A first call that runs as pasted, with a key in `SLUICE_API_KEY`. */
export function writeModelSamples(model: SampleModel, baseUrl: string): [Sample, Sample, Sample] {
  return writeRequestSamples({ type: model.type, body: firstBodies[model.type](model), baseUrl });
}

/** The same call in three languages. */
export function writeRequestSamples(call: SampleCall): [Sample, Sample, Sample] {
  const { curl, python, typescript } = writers[call.type];
  return [
    { id: "curl", label: "curl", code: curl(call) },
    { id: "python", label: "Python", code: python(call) },
    { id: "typescript", label: "TypeScript", code: typescript(call) },
  ];
}

const firstBodies: Record<SampleType, (model: SampleModel) => Body> = {
  chat: ({ id }) => ({ model: id, messages: [{ role: "user", content: "What does a sluice do?" }] }),
  image: ({ id, capabilities, limits }) => ({
    model: id,
    prompt: "A lighthouse at dusk",
    ...(limits?.sizes?.[0] === undefined ? {} : { size: limits.sizes[0] }),
    ...listStartImages(capabilities.includes("text_to_image")),
  }),
  video: ({ id, capabilities, limits }) => ({
    model: id,
    prompt: "Waves roll in at night",
    ...(limits?.durations?.[0] === undefined ? {} : { duration: limits.durations[0] }),
    ...chooseRatio(limits),
    ...listStartImages(capabilities.includes("text_to_video")),
  }),
  avatar: ({ id, limits }) => ({ model: id, ...avatarFiles, ...chooseRatio(limits) }),
  drama: ({ id, capabilities, limits }) => ({
    model: id,
    title: "The Lighthouse",
    script: "Anna climbs the stairs of the old lighthouse. The lamp is out, and a ship is near.",
    // The cheapest stage; later stages can continue from its output.
    ...(capabilities.includes("script_generation") ? { stage: "script" } : {}),
    ...chooseRatio(limits),
  }),
  speech: ({ id, limits }) => ({ model: id, input: "The gate is open.", voice: limits?.voices?.[0] ?? "alloy" }),
  embedding: ({ id }) => ({ model: id, input: ["The gate is open.", "The door was unlocked."] }),
  transcription: ({ id }) => ({ model: id }),
};

function listStartImages(startsFromText: boolean): Body {
  return startsFromText ? {} : { input_images: ["https://example.com/start.png"] };
}

function chooseRatio(limits: SampleModel["limits"]): Body {
  const ratio = limits?.aspect_ratios?.[0];
  return ratio === undefined ? {} : { aspect_ratio: ratio };
}

const curlKey = `-H "Authorization: Bearer $SLUICE_API_KEY"`;

/** Within single quotes a shell interprets only a single quote. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function writeCurl({ type, body, baseUrl }: SampleCall, more: readonly string[]): string {
  return [
    `curl -sS ${baseUrl}${endpoints[type]}`,
    curlKey,
    `-H "Content-Type: application/json"`,
    ...more,
    `-d ${quote(JSON.stringify(body, null, 2))}`,
  ].join(" \\\n  ");
}

const curlChat: Writer = (call) => writeCurl(call, call.body.stream === true ? ["-N"] : []);

const curlJson: Writer = (call) => writeCurl(call, []);

const curlSpeech: Writer = (call) => writeCurl(call, [`--output speech.${nameFormat(call.body)}`]);

/** Local file used by the transcription samples. */
const recording = "recording.mp3";

const curlTranscription: Writer = ({ type, body, baseUrl }) =>
  [
    `curl -sS ${baseUrl}${endpoints[type]}`,
    curlKey,
    ...Object.entries(body).map(([name, value]) => `-F ${name}="${value}"`),
    `-F file=@${recording}`,
  ].join(" \\\n  ");

/** Closes the quotes around the ids, so the shell expands them. */
const curlTask: Writer = (call) => {
  const uploads = listUploads(call.body).map(
    ([name, file]) =>
      `${name}=$(curl -sS ${call.baseUrl}/files ${curlKey} \\\n  -F purpose=generation -F file=@${file} \\\n  | grep -oE 'file_[0-9a-z]{20,}' | head -n 1)\n`,
  );
  let submission = writeCurl(call, [`-H "Idempotency-Key: order-$(date +%s)"`]);
  for (const [name, file] of listUploads(call.body)) submission = submission.replace(`"${file}"`, `"'"$${name}"'"`);
  return `${uploads.join("")}answer=$(${submission})
echo "$answer"

# Waits up to a minute for the end. Ask again while its status is queued or processing.
task=$(echo "$answer" | grep -oE 'task_[0-9a-z]{20,}' | head -n 1)
curl -sS ${call.baseUrl}/tasks/$task \\
  ${curlKey} -H "Prefer: wait=60"
`;
};

function listUploads(body: Body): [name: string, file: string][] {
  return Object.entries(avatarFiles).filter(([name, file]) => body[name] === file);
}

function nameFormat(body: Body): string {
  return typeof body.response_format === "string" ? body.response_format : "mp3";
}

const pythonClient = ({ baseUrl }: SampleCall) => `import os
from openai import OpenAI

client = OpenAI(api_key=os.environ["SLUICE_API_KEY"], base_url="${baseUrl}")
`;

function writeArguments(body: Body): string {
  return Object.entries(body)
    .map(([name, value]) => `    ${name}=${writeLiteral(value, "python", { indent: 4, before: name.length })},\n`)
    .join("");
}

const pythonChat: Writer = (call) =>
  call.body.stream === true
    ? `${pythonClient(call)}
stream = client.chat.completions.create(
${writeArguments(call.body)})
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="")
`
    : `${pythonClient(call)}
completion = client.chat.completions.create(
${writeArguments(call.body)})
print(completion.choices[0].message.content)
`;

const pythonSpeech: Writer = (call) => `${pythonClient(call)}
with client.audio.speech.with_streaming_response.create(
${writeArguments(call.body)}) as speech:
    speech.stream_to_file("speech.${nameFormat(call.body)}")
`;

const pythonEmbedding: Writer = (call) => `${pythonClient(call)}
response = client.embeddings.create(
${writeArguments(call.body)})
for item in response.data:
    print(item.index, len(item.embedding))
`;

const pythonTranscription: Writer = (call) => `${pythonClient(call)}
with open("${recording}", "rb") as recording:
    transcript = client.audio.transcriptions.create(
        file=recording,
${writeArguments(call.body).replaceAll(/^ {4}/gm, "        ")}    )
print(transcript.text)
`;

const pythonTask: Writer = ({ type, body, baseUrl }) => {
  const upload = `
def upload(name):
    form = {"purpose": "generation"}
    answer = api.post(f"{base_url}/files", data=form, files={"file": open(name, "rb")})
    answer.raise_for_status()
    return answer.json()["file_id"]

`;
  const literal = writeLiteral(body, "python", { before: 10 });
  const fields = listUploads(body).reduce((text, [, file]) => text.replace(`"${file}"`, `upload("${file}")`), literal);
  return `import os
import uuid
import requests

base_url = "${baseUrl}"
api = requests.Session()
api.headers["Authorization"] = f"Bearer {os.environ['SLUICE_API_KEY']}"
${listUploads(body).length === 0 ? "" : upload}
# One key for each thing that you want made: sent again after a time-out, it is the same task.
request = ${fields}
answer = api.post(
    f"{base_url}${endpoints[type]}",
    json=request,
    headers={"Idempotency-Key": str(uuid.uuid4())},
)
answer.raise_for_status()
task = answer.json()

# Each call waits up to a minute for the end of the task.
while task["status"] in ("queued", "processing"):
    answer = api.get(f"{base_url}/tasks/{task['id']}", headers={"Prefer": "wait=60"})
    answer.raise_for_status()
    task = answer.json()

print(task["status"], [item["url"] for item in task["output"]])
`;
};

const typescriptClient = ({ baseUrl }: SampleCall) => `import OpenAI from "openai";

const client = new OpenAI({ apiKey: process.env.SLUICE_API_KEY, baseURL: "${baseUrl}" });
`;

const typescriptChat: Writer = (call) =>
  call.body.stream === true
    ? `${typescriptClient(call)}
const stream = await client.chat.completions.create(${writeLiteral(call.body, "typescript", { before: 60 })});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "");
`
    : `${typescriptClient(call)}
const completion = await client.chat.completions.create(${writeLiteral(call.body, "typescript", { before: 60 })});
console.log(completion.choices[0]?.message.content);
`;

const typescriptSpeech: Writer = (call) => `import { writeFile } from "node:fs/promises";
${typescriptClient(call)}
const speech = await client.audio.speech.create(${writeLiteral(call.body, "typescript", { before: 60 })});
await writeFile("speech.${nameFormat(call.body)}", Buffer.from(await speech.arrayBuffer()));
`;

const typescriptEmbedding: Writer = (call) => `${typescriptClient(call)}
const response = await client.embeddings.create(${writeLiteral(call.body, "typescript", { before: 60 })});
for (const { index, embedding } of response.data) console.log(index, embedding.length);
`;

const typescriptTranscription: Writer = (call) => `import { createReadStream } from "node:fs";
${typescriptClient(call)}
const body = ${writeLiteral(call.body, "typescript", { before: 16 })} as const;
const file = createReadStream("${recording}");
const transcript = await client.audio.transcriptions.create({ ...body, file });
console.log(transcript.text);
`;

const typescriptTask: Writer = ({ type, body, baseUrl }) => {
  const hasUploads = listUploads(body).length > 0;
  const upload = `
async function upload(name: string) {
  const form = new FormData();
  form.append("purpose", "generation");
  form.append("file", await openAsBlob(name), name);
  return (await call("/files", { method: "POST", body: form })).file_id;
}
`;
  const literal = writeLiteral(body, "typescript", { before: 16 });
  const fields = listUploads(body).reduce(
    (text, [, file]) => text.replace(`"${file}"`, `await upload("${file}")`),
    literal,
  );
  return `${hasUploads ? 'import { openAsBlob } from "node:fs";\n\n' : ""}const baseUrl = "${baseUrl}";

async function call(path: string, init: RequestInit = {}) {
  const headers = { ...init.headers, Authorization: \`Bearer \${process.env.SLUICE_API_KEY}\` };
  const answer = await fetch(baseUrl + path, { ...init, headers });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error.message);
  return body;
}
${hasUploads ? upload : ""}
// One key per task: a retry after a timeout returns the same task.
const request = ${fields};
let task = await call("${endpoints[type]}", {
  method: "POST",
  headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() },
  body: JSON.stringify(request),
});

// Each call waits up to 60 seconds for the task to end.
while (task.status === "queued" || task.status === "processing") {
  task = await call(\`/tasks/\${task.id}\`, { headers: { Prefer: "wait=60" } });
}
console.log(task.status, task.output);
`;
};

const taskWriters = { curl: curlTask, python: pythonTask, typescript: typescriptTask };

const writers: Record<SampleType, Record<Sample["id"], Writer>> = {
  chat: { curl: curlChat, python: pythonChat, typescript: typescriptChat },
  image: taskWriters,
  video: taskWriters,
  avatar: taskWriters,
  drama: taskWriters,
  speech: { curl: curlSpeech, python: pythonSpeech, typescript: typescriptSpeech },
  embedding: { curl: curlJson, python: pythonEmbedding, typescript: typescriptEmbedding },
  transcription: { curl: curlTranscription, python: pythonTranscription, typescript: typescriptTranscription },
};
