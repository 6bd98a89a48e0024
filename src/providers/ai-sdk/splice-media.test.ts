import { expect, test } from "vitest";
import { createMediaSplice } from "./splice-media.ts";

const long = (letter: string): string => letter.repeat(300_000);

/** Sends a body through a splice's `fetch` and returns what arrives. */
async function send(splice: ReturnType<typeof createMediaSplice>, body: RequestInit["body"]): Promise<string> {
  let sent: unknown;
  const fetch = splice.restore(async (_url, init) => {
    sent = init?.body;
    return new Response();
  });
  await fetch("https://vendor.example.com", { method: "POST", body: body ?? null });
  return String(sent);
}

test("long media gets a stand-in, which the body that is sent does not have", async () => {
  const splice = createMediaSplice();
  const [first, second] = [splice.hide(long("A")), splice.hide(long("B"))];
  expect([first, second].every((standIn) => /^[A-Za-z0-9+/]{64}$/.test(standIn))).toBe(true);
  const write = (one: string, other: string): string => JSON.stringify({ é: [`data:image/png;base64,${one}`, other] });
  expect(await send(splice, write(second, first))).toBe(write(long("B"), long("A")));
});

test("short media stays, and a body without hidden media is sent as it is", async () => {
  const splice = createMediaSplice();
  expect(splice.hide("AAAA")).toBe("AAAA");
  expect(await send(splice, '{"a":"AAAA"}')).toBe('{"a":"AAAA"}');
});

test("a body that lacks its media is not sent", async () => {
  const splice = createMediaSplice();
  splice.hide(long("A"));
  await expect(async () => await send(splice, '{"a":"other"}')).rejects.toThrow("changed the media");
});
