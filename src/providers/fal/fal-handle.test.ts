import { expect, test } from "vitest";
import { readBaseUrl } from "../base-url.ts";
import { parseFalHandle, readFalReply } from "./fal-handle.ts";

const baseUrl = readBaseUrl("https://queue.fal.run");
const read = (body: unknown, upstreamModel = "fal-ai/flux/dev", base = baseUrl) =>
  readFalReply(body, { baseUrl: base, upstreamModel });

const usual = {
  requestId: "r-1",
  statusPath: "/fal-ai/flux/requests/r-1/status",
  resultPath: "/fal-ai/flux/requests/r-1",
  cancelPath: "/fal-ai/flux/requests/r-1/cancel",
};

test("fal's own URLs are used, with their queries", () => {
  const at = "https://queue.fal.run/apps/7";
  const reply = { request_id: "r-1", status_url: `${at}/s?x=1`, response_url: `${at}/r`, cancel_url: `${at}/c` };
  expect(read(reply)).toEqual({
    requestId: "r-1",
    statusPath: "/apps/7/s?x=1",
    resultPath: "/apps/7/r",
    cancelPath: "/apps/7/c",
  });
});

test.for([
  "https://evil.example/x",
  "http://queue.fal.run/x",
  "https://queue.fal.run:444/x",
  "https://queue.fal.run.evil.example/x",
  "/fal-ai/flux/requests/r-2",
  "javascript:alert(1)",
  `https://queue.fal.run/${"x".repeat(1000)}`,
  7,
  null,
])("the URL %s is replaced by the default", (url) => {
  expect(read({ request_id: "r-1", status_url: url, response_url: url, cancel_url: url })).toEqual(usual);
});

test("default URLs omit what follows a model's name, and keep the path of the base", () => {
  const path = (model: string, base?: typeof baseUrl) => read({ request_id: "r" }, model, base)?.resultPath;
  expect(path("fal-ai/kling-video/v2/pro")).toBe("/fal-ai/kling-video/requests/r");
  expect(path("fal-ai/flux")).toBe("/fal-ai/flux/requests/r");
  expect(path("workflows/me/mine/run")).toBe("/workflows/me/mine/requests/r");
  expect(path("fal-ai/flux/dev", readBaseUrl("http://127.0.0.1:1/fal/"))).toBe("/fal/fal-ai/flux/requests/r");
});

test.for([null, [], "r-1", {}, { request_id: "" }, { request_id: "a/b" }, { request_id: "x".repeat(201) }])(
  "a response without a request id is rejected: %j",
  (body) => {
    expect(read(body)).toBeNull();
  },
);

test("a stored handle is parsed, and nothing else is", () => {
  expect(parseFalHandle(usual)).toEqual(usual);
  expect(parseFalHandle({ ...usual, statusPath: "https://evil.example/" })).toBeNull();
  expect(parseFalHandle({ ...usual, resultPath: 7 })).toBeNull();
  expect(parseFalHandle({ ...usual, cancelPath: null })).toBeNull();
  expect(parseFalHandle({})).toBeNull();
});
