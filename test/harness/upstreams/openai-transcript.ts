import { canary } from "./canary.ts";
import { type MediaReply, type MediaSubmission, writeJson } from "./media-call.ts";
import { demand, demandKnownFields } from "./vendor-refusal.ts";

const translationFields = ["model", "prompt", "response_format", "temperature"];
const transcriptionFields = [
  ...translationFields,
  ...["language", "timestamp_granularities[]", "include[]", "stream", "chunking_strategy"],
];

/** The transcript of any recording, and its usage. */
export const heard = {
  text: "The gate is open. Come in.",
  segments: [
    { id: 0, start: 0, end: 0.6, text: " The gate is open." },
    { id: 1, start: 0.6, end: 1, text: " Come in." },
  ],
  words: [
    { word: "The", start: 0, end: 0.1 },
    { word: "gate", start: 0.1, end: 0.3 },
  ],
  speakers: [{ id: "seg_1", start: 0, end: 1, speaker: "A", text: "The gate is open. Come in." }],
  usage: {
    type: "tokens",
    input_tokens: 14,
    input_token_details: { text_tokens: 4, audio_tokens: 10 },
    output_tokens: 8,
    total_tokens: 22,
  },
};

/** Like compatible servers: only the JSON response formats are supported. */
export function checkTranscriptionAsk(
  fields: MediaSubmission["fields"],
  files: MediaSubmission["files"],
  operation: "transcription" | "translation",
): void {
  demandKnownFields(fields, operation === "translation" ? translationFields : transcriptionFields);
  const [file] = files;
  demand(files.length === 1 && file?.name === "file", "file", "Expected one file.");
  demand(/^[\w-]+\.(mp3|wav|m4a|ogg|flac|mp4|webm|mov)$/.test(file?.filename ?? ""), "file", "Unrecognized format.");
  const format = String(fields.response_format ?? "json");
  demand(["json", "verbose_json", "diarized_json"].includes(format), "response_format", "Invalid format.");
  const isTimed = fields["timestamp_granularities[]"] !== undefined;
  demand(!isTimed || format === "verbose_json", "timestamp_granularities", "It needs verbose_json.");
  const temperature = Number(fields.temperature ?? 0);
  demand(temperature >= 0 && temperature <= 1, "temperature", "It must be from 0 to 1.");
}

export function presentTranscript(fields: MediaSubmission["fields"]): MediaReply {
  const { text, segments, words, speakers, usage } = heard;
  const hidden = { model: canary, x_vendor: { id: canary } };
  if (fields.stream === "true") return { status: 200, headers: eventHeaders, body: writeEvents() };
  switch (fields.response_format) {
    case "verbose_json":
      return writeJson(200, {
        ...hidden,
        task: "transcribe",
        language: "english",
        duration: 1.04,
        text,
        segments,
        words,
      });
    case "diarized_json": {
      const said = speakers.map((speaker) => ({ type: "transcript.text.segment", ...speaker }));
      return writeJson(200, { ...hidden, text, segments: said, usage });
    }
    default: {
      const logprobs =
        fields["include[]"] === undefined ? {} : { logprobs: [{ token: "The", logprob: -0.1, bytes: [84] }] };
      return writeJson(200, { ...hidden, text, usage, ...logprobs });
    }
  }
}

const eventHeaders = { "content-type": "text/event-stream; charset=utf-8" };

function writeEvents(): string {
  const deltas = heard.text.match(/\s*\S+/g) ?? [];
  const events = [
    ...deltas.map((delta) => ({ type: "transcript.text.delta", delta, obfuscation: canary })),
    { type: "transcript.text.done", text: heard.text, usage: heard.usage },
  ];
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}
