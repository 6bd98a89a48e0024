/** A request to a gateway, in OpenAI's format. */
export type ChatAsk = { isStream: boolean; promptBytes: number };

export const shortPromptBytes = 80;

/** A serialized chat request, built once and sent many times. */
export function writeChatRequest(
  ask: ChatAsk,
  target: { port: number; model: string; headers: Record<string, string> },
): Buffer {
  const body = JSON.stringify({
    model: target.model,
    messages: [
      { role: "system", content: "You are a helpful assistant." },
      { role: "user", content: writePrompt(ask.promptBytes) },
    ],
    temperature: 0.7,
    ...(ask.isStream ? { stream: true } : {}),
  });
  return writePost("/v1/chat/completions", body, target);
}

export function writePost(
  path: string,
  body: string,
  target: { port: number; headers: Record<string, string> },
): Buffer {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${target.port}`,
    "content-type: application/json",
    "accept: application/json",
    ...Object.entries(target.headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

export function writePrompt(bytes: number): string {
  const sentence = 'Tell me in a few words why the sky is "blue", and what Ångström has to do with it.\n';
  return sentence.repeat(Math.ceil(bytes / sentence.length)).slice(0, bytes);
}
