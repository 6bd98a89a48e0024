import { expect, test } from "vitest";
import { evenOut } from "./even-out.ts";

const receiverUrl = "http://127.0.0.1:4711";

/** The same recording with other times and random values. */
function recordAt(startedAt: Date, digit: string) {
  const at = (ms: number) => new Date(startedAt.getTime() + ms);
  const seconds = Math.floor(at(2_000).getTime() / 1000);
  const id = `task_01${digit.repeat(24)}`;
  const recorded = {
    id,
    item: `msg_01${digit.repeat(24)}_0`,
    created: seconds,
    expires_at: at(86_400_000 + 1_000).toISOString(),
    day: `${startedAt.toISOString().slice(0, 10)}T00:00:00Z`,
    text: `see ${id}, ${receiverUrl}/hook?expires=${seconds}&signature=${digit.repeat(43)}`,
    secret: `whsec_${digit.repeat(43)}=`,
    latency_ms: Number(digit),
    bytes: 374_997,
    data: [1, 2, 3].map((number) => ({ number })),
    vector: Array.from({ length: 20 }, (_, index) => index),
  };
  return evenOut(recorded, { startedAt, receiverUrl });
}

test("recordings with different times and random values become identical", () => {
  const first = recordAt(new Date("2026-03-01T10:17:33.123Z"), "7");
  expect(recordAt(new Date("2027-01-30T23:01:02.003Z"), "9")).toEqual(first);
  expect(first).toMatchObject({
    created: Date.parse("2026-11-17T09:00:00Z") / 1000,
    expires_at: "2026-11-18T09:00:00Z",
    day: "2026-11-17T00:00:00Z",
    bytes: 374_997,
    data: [{ number: 1 }, { number: 2 }],
    vector: [0, 1, 2, 3, 4, 5, 6, 7],
  });
});

test("an id is replaced by the same id everywhere", () => {
  const { id, text, item } = recordAt(new Date("2026-03-01T10:17:33Z"), "7") as Record<string, string>;
  expect(id).toMatch(/^task_01[0-9a-z]{24}$/);
  expect(text).toContain(`see ${id}, https://example.com/hook?expires=1794906000&signature=`);
  expect(item).toMatch(/^msg_01[0-9a-z]{24}_0$/);
});
