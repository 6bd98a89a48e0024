import { once } from "node:events";
import { Readable } from "node:stream";
import { expect, test, vi } from "vitest";
import { createSendAlone } from "./send-alone.ts";

test("a second export is refused without being opened, until the first one is closed", async () => {
  const sendAlone = createSendAlone();
  const first = await sendAlone(() => Readable.from(["a line"]));
  const open = vi.fn(() => Readable.from(["another"]));
  await expect(sendAlone(open)).rejects.toMatchObject({ code: "overloaded" });
  expect(open).not.toHaveBeenCalled();
  const closed = once(first, "close");
  first.destroy();
  await closed;
  expect(await (await sendAlone(open)).toArray()).toEqual(["another"]);
});

test("an export that cannot be opened does not keep others out", async () => {
  const sendAlone = createSendAlone();
  await expect(sendAlone(() => Promise.reject(new Error("no such account")))).rejects.toThrow("no such account");
  expect(await (await sendAlone(() => Readable.from(["a line"]))).toArray()).toEqual(["a line"]);
});
