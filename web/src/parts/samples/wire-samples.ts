import { writeModelSamples } from "./code-samples.ts";

/** The chat APIs, by the clients that use them. */
export const chatWires = [
  { id: "chat", label: "Chat Completions", hint: "Any OpenAI client works." },
  { id: "responses", label: "Responses", hint: "Any OpenAI client works, and OpenAI's agents." },
  { id: "messages", label: "Messages", hint: "Any Anthropic client works, and Claude Code." },
] as const;

export type ChatWire = (typeof chatWires)[number]["id"];

type ChatModel = Parameters<typeof writeModelSamples>[0];
type Samples = ReturnType<typeof writeModelSamples>;
type Place = { modelId: string; baseUrl: string };

const question = "What does a sluice do?";

/** A first call that runs as pasted, with a key in `SLUICE_API_KEY`. */
export function writeWireSamples(wire: ChatWire, model: ChatModel, baseUrl: string): Samples {
  if (wire === "chat") return writeModelSamples(model, baseUrl);
  const { curl, python, typescript } = writers[wire];
  // A JSON string is a valid literal in all three languages.
  const place = { modelId: JSON.stringify(model.id), baseUrl };
  return [
    { id: "curl", label: "curl", code: curl(place) },
    { id: "python", label: "Python", code: python(place) },
    { id: "typescript", label: "TypeScript", code: typescript(place) },
  ];
}

/** Anthropic's clients append the API version themselves. */
function cutVersion(baseUrl: string): string {
  return baseUrl.replace(/\/v1$/, "");
}

const writers: Record<Exclude<ChatWire, "chat">, Record<"curl" | "python" | "typescript", (place: Place) => string>> = {
  responses: {
    curl: ({ modelId, baseUrl }) => `curl -sS ${baseUrl}/responses \\
  -H "Authorization: Bearer $SLUICE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{
  "model": ${modelId},
  "input": "${question}"
}'`,
    python: ({ modelId, baseUrl }) => `import os
from openai import OpenAI

client = OpenAI(api_key=os.environ["SLUICE_API_KEY"], base_url="${baseUrl}")

response = client.responses.create(
    model=${modelId},
    input="${question}",
)
print(response.output_text)
`,
    typescript: ({ modelId, baseUrl }) => `import OpenAI from "openai";

const client = new OpenAI({ apiKey: process.env.SLUICE_API_KEY, baseURL: "${baseUrl}" });

const response = await client.responses.create({ model: ${modelId}, input: "${question}" });
console.log(response.output_text);
`,
  },
  messages: {
    curl: ({ modelId, baseUrl }) => `curl -sS ${baseUrl}/messages \\
  -H "x-api-key: $SLUICE_API_KEY" \\
  -H "anthropic-version: 2023-06-01" \\
  -H "Content-Type: application/json" \\
  -d '{
  "model": ${modelId},
  "max_tokens": 500,
  "messages": [{ "role": "user", "content": "${question}" }]
}'`,
    python: ({ modelId, baseUrl }) => `import os
from anthropic import Anthropic

client = Anthropic(api_key=os.environ["SLUICE_API_KEY"], base_url="${cutVersion(baseUrl)}")

message = client.messages.create(
    model=${modelId},
    max_tokens=500,
    messages=[{"role": "user", "content": "${question}"}],
)
print("".join(block.text for block in message.content if block.type == "text"))
`,
    typescript: ({ modelId, baseUrl }) => `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ apiKey: process.env.SLUICE_API_KEY, baseURL: "${cutVersion(baseUrl)}" });

const message = await client.messages.create({
  model: ${modelId},
  max_tokens: 500,
  messages: [{ role: "user", content: "${question}" }],
});
for (const block of message.content) if (block.type === "text") console.log(block.text);
`,
  },
};
