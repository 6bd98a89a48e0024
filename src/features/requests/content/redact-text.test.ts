import { describe, expect, test } from "vitest";
import { redactText } from "./redact-text.ts";

const ownKey = "sk-slc-0123456789ABCDEFGHIJabcdefghij0a1b2c";
const redact = (text: string, isEvents = false) => redactText(text, { isEvents });
const say = (content: unknown) => JSON.stringify({ messages: [{ role: "user", content }] });

describe("anything that looks like a secret is redacted", () => {
  test.each([
    ["sk-slc-", "0123456789ABCDEFGHIJabcdefghij0a1b2c"],
    ["sk-ant-", "api03-abcdefghijklmnop"],
    ["sk-proj-", "AbCd0123_-xyz"],
    ["sk-", "0123456789abcdefghij"],
    ["AIza", "SyA0123456789abcdefghijklmnopqrstuv"],
    ["ghp_", "0123456789abcdefghijABCDEFGHIJ012345"],
    ["github_pat_", "11ABCDEFG0123456789_abcdefghij"],
    ["AKIA", "IOSFODNN7EXAMPLE"],
    ["xoxb-", "1234567890-abcdefghij"],
    ["sk_live_", "0123456789abcdef"],
    ["whsec_", "MDEyMzQ1Njc4OWFiY2RlZg=="],
    ["hf_", "abcdefghijklmnopqrstuvwxyz012345"],
    ["", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"],
    ["-----BEGIN RSA PRIVATE KEY-----", "MIIEowIBAAKCAQEA"],
    ["Bearer ", "0123456789abcdef"],
    ["mysql://user:", "hunter22"],
    ["OPENAI_API_KEY=", "not-a-known-shape"],
    ["authorization: Basic ", "dXNlcjpwYXNzd29yZA=="],
  ])("%s%s", (before, secret) => {
    const { text, hidden } = redact(say(`It is ${before}${secret}@ and no other.`));
    expect(hidden).toBe(1);
    expect(JSON.parse(text).messages[0].content).toMatch(`It is ${before}[hidden]`);
    expect(text).not.toContain(secret);
  });
});

test.each([
  "The risk-based approach of a task-oriented sk-learn pipeline",
  "The bearer of good news, with bearer authentication",
  "https://example.com/a:b and user@example.com",
  "token, secret and password are words",
  "keyboard, monkey-patching, desk-0",
])("ordinary words are kept: %s", (sentence) => {
  expect(redact(say(sentence))).toEqual({ text: say(sentence), hidden: 0 });
});

test.each([
  "api_key",
  "X-Api-Key",
  "apiKey",
  "Authorization",
  "db_password",
  "client_secret",
  "aws_secret_access_key",
  "refresh_token",
])("only the value of a field named %s is redacted", (name) => {
  const { text, hidden } = redact(JSON.stringify({ [name]: "plain words", model: "m", max_tokens: 5 }));
  expect({ ...JSON.parse(text), hidden }).toEqual({ [name]: "[hidden]", model: "m", max_tokens: 5, hidden: 1 });
});

test("numbers and arrays in such fields are redacted; a field's schema is not", () => {
  const body = { password: 123456, api_key: ["a", "b"], properties: { password: { type: "string" } }, token: "Hel" };
  expect(redact(JSON.stringify(body)).text).toBe(
    '{"password":[hidden],"api_key":["[hidden]","[hidden]"],"properties":{"password":{"type":"string"}},"token":"Hel"}',
  );
});

describe("a secret is found", () => {
  const escapeAll = (text: string) =>
    text.replaceAll(/./g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);

  test("behind escapes", () => {
    const { text } = redact(`{"content":"a\\n${escapeAll(ownKey)}\\tb","${escapeAll("api_key")}":"words"}`);
    const read = JSON.parse(text);
    expect(read).toEqual({ content: "a\nsk-slc-[hidden]\tb", api_key: "[hidden]" });
  });

  test("in a field's name", () => {
    expect(Object.keys(JSON.parse(redact(`{"${escapeAll(ownKey)}":1}`).text))).toEqual(["sk-slc-[hidden]"]);
  });

  test("in JSON within JSON within JSON", () => {
    const inner = JSON.stringify({ deep: JSON.stringify({ password: "hunter two", note: ownKey }) });
    const { text } = redact(JSON.stringify({ arguments: inner }));
    expect(JSON.parse(JSON.parse(JSON.parse(text).arguments).deep)).toEqual({
      password: "[hidden]",
      note: "sk-slc-[hidden]",
    });
  });

  test("in a truncated body", () => {
    expect(redact(`{"a":"b","password":"hunt`).text).toBe('{"a":"b","password":"[hidden]');
    expect(redact(`{"a":"${ownKey.slice(0, 20)}`).text).toBe('{"a":"sk-slc-[hidden]');
  });

  test("after an unterminated string", () => {
    expect(redact(`it's 5" wide: ${ownKey}, "and {so [on`).text).toBe(`it's 5" wide: sk-slc-[hidden], "and {so [on`);
  });
});

/** A stream that sends each text in pieces of a few letters, one choice after the other. */
function streamTexts(
  texts: readonly string[],
  present: (piece: string, index: number) => unknown,
  letters = 3,
): string {
  const events: string[] = [];
  for (let at = 0; texts.some((text) => at < text.length); at += letters) {
    for (const [index, text] of texts.entries()) {
      events.push(`data: ${JSON.stringify(present(text.slice(at, at + letters), index))}\n\n`);
    }
  }
  return `${events.join("")}data: [DONE]\n\n`;
}

function readStream(text: string, read: (event: never) => [index: number, piece: string]): string[] {
  const texts: string[] = [];
  for (const line of text.split("\n")) {
    if (!line.startsWith("data: {")) continue;
    const [index, piece] = read(JSON.parse(line.slice(6)) as never);
    texts[index] = (texts[index] ?? "") + piece;
  }
  return texts;
}

describe("a secret that is split over stream events is redacted in all of them", () => {
  const sentence = `The key is ${ownKey}, keep it.`;
  const hidden = /^The key is sk-slc-(\[hidden\])+, keep it\.$/;

  test("in chat, with two interleaved choices", () => {
    const present = (content: string, index: number) => ({ id: "c-1", choices: [{ delta: { content }, index }] });
    const { text } = redact(streamTexts([sentence, "Nothing to hide."], present), true);
    const read = ({ choices: [choice] }: { choices: [{ delta: { content: string }; index: number }] }) =>
      [choice.index, choice.delta.content] as [number, string];
    const [told, other] = readStream(text, read);
    expect(told).toMatch(hidden);
    expect(other).toBe("Nothing to hide.");
  });

  test("in messages and responses", () => {
    const messages = streamTexts([sentence], (text, index) => ({
      type: "content_block_delta",
      index,
      delta: { text },
    }));
    const responses = streamTexts([sentence], (delta) => ({ type: "response.output_text.delta", item_id: "i", delta }));
    const readMessage = ({ delta }: { delta: { text: string } }) => [0, delta.text] as [number, string];
    const readResponse = ({ delta }: { delta: string }) => [0, delta] as [number, string];
    expect(readStream(redact(messages, true).text, readMessage)[0]).toMatch(hidden);
    expect(readStream(redact(responses, true).text, readResponse)[0]).toMatch(hidden);
  });

  test("letter by letter, in a tool's arguments", () => {
    const argument = JSON.stringify({ city: "Bern", api_key: "plain words" });
    const present = (piece: string) => ({
      choices: [{ index: 0, delta: { tool_calls: [{ function: { arguments: piece } }] } }],
    });
    const { text } = redact(streamTexts([argument], present, 1), true);
    type Told = { choices: [{ delta: { tool_calls: [{ function: { arguments: string } }] } }] };
    const read = ({ choices: [{ delta }] }: Told) => [0, delta.tool_calls[0].function.arguments] as [number, string];
    expect(readStream(text, read)[0]).toMatch(/^\{"city":"Bern","api_key":"(\[hidden\])+"\}$/);
  });
});

test("redaction takes linear time, whatever the text", () => {
  const kinds = [
    "sk-",
    "eyJ",
    "://a:",
    "-----BEGIN PRIVATE KEY-----",
    "bearer ",
    '\\\\\\"a',
    "[",
    '{"a":',
    '"\\"',
    "token=",
  ];
  const lines = ['data: {"index":0,"a":"\\u0073"}\n', 'data: [[[[[[[[{"index":0,"a":"x"}]]]]]]]]\n'];
  for (const kind of [...kinds, ...lines]) {
    const measure = (bytes: number): number => {
      const text = kind.repeat(Math.ceil(bytes / kind.length));
      const { user } = process.cpuUsage();
      redact(text, true);
      return process.cpuUsage().user - user;
    };
    measure(16 * 1024);
    const [small, large] = [measure(16 * 1024), measure(256 * 1024)];
    // Sixteen times the text: quadratic time would be 256 times as long.
    expect({ kind, isLinear: large < 2_000_000 || large < 64 * small }).toEqual({ kind, isLinear: true });
  }
});
