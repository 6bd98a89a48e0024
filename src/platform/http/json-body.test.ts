import fastify from "fastify";
import { expect, test } from "vitest";
import { acceptJsonBodies } from "./json-body.ts";

const limits = { structureMax: 100_000, escapesMax: 100_000 };

/** Whether a route that can outline the body gets it outlined. */
async function isOutlined(body: object): Promise<boolean> {
  const http = fastify();
  acceptJsonBodies(http, limits);
  http.post("/", { config: { outline: () => ({ isOutlined: true }) } }, (request) => ({
    isOutlined: (request.body as { isOutlined?: boolean }).isOutlined === true,
  }));
  const answer = await http.inject({ method: "POST", url: "/", payload: body });
  await http.close();
  return answer.json().isOutlined;
}

const message = { role: "user", content: "Hello!" };
const text = 'A line with "quotes".\n';

test("a body of at least 32 objects is outlined, a small one of long texts is parsed", async () => {
  const padding = text.repeat(400);
  expect(await isOutlined({ messages: Array(31).fill(message), padding })).toBe(true);
  expect(await isOutlined({ messages: Array(30).fill(message), padding })).toBe(false);
  expect(await isOutlined({ messages: [message], padding: text.repeat(2000) })).toBe(false);
  // A large body is outlined whatever it contains: parsing it would need a scan first.
  expect(await isOutlined({ messages: [message], padding: text.repeat(4000) })).toBe(true);
});

test("a body below 4 kB is parsed", async () => {
  expect(await isOutlined({ messages: Array(40).fill(message) })).toBe(false);
});
