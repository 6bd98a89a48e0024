import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { unicodeText } from "../../../test/harness/unicode-text.ts";
import { createThoughtSeal, fingerprintThought, type Thought, toolCallIdLengthMax } from "./thought-seal.ts";

const seal = createThoughtSeal({ secret: "secret", vendor: "anthropic" });
const thought: Thought = {
  marks: { signature: "EqQBCkgIBhABGAIiQ canary" },
  textLength: 5,
  textFingerprint: fingerprintThought("Think"),
};

test("sealed reasoning is recovered, and unreadable in the id", () => {
  const id = seal.sealCallId("call_1", [thought]);
  expect(seal.openCallId(id)).toEqual({ callId: "call_1", thoughts: [thought] });
  expect(id).toMatch(/^call_1~[\w-]+$/);
  expect(Buffer.from(id.split("~")[1] ?? "", "base64url").toString("latin1")).not.toContain("canary");
});

test("a call without reasoning has a plain id", () => {
  expect(seal.sealCallId("call_1", [])).toBe("call_1");
});

test("reasoning that does not fit into an id is dropped, and no id exceeds the limit", () => {
  // Signatures look random, so they cannot be compressed.
  const random = createHash("shake256", { outputLength: 5000 }).update("any").digest("base64");
  expect(seal.sealCallId("call_1", [{ ...thought, marks: { signature: random } }])).toBe("call_1");
  const fitting = seal.sealCallId("call_1", [{ ...thought, marks: { signature: random.slice(0, 2000) } }]);
  expect(fitting.length).toBeLessThanOrEqual(toolCallIdLengthMax);
  expect(seal.openCallId(fitting).thoughts).toHaveLength(1);
});

test.for([
  ["another secret", createThoughtSeal({ secret: "other", vendor: "anthropic" })],
  ["another vendor", createThoughtSeal({ secret: "secret", vendor: "google" })],
] as const)("%s decrypts nothing", ([, other]) => {
  expect(other.openCallId(seal.sealCallId("call_1", [thought]))).toEqual({ callId: "call_1", thoughts: [] });
});

test("reasoning cannot be moved to another call", () => {
  const [, sealed] = seal.sealCallId("call_1", [thought]).split("~");
  expect(seal.openCallId(`call_2~${sealed}`)).toEqual({ callId: "call_2", thoughts: [] });
});

test("no invented id does any harm", () => {
  fc.assert(
    fc.property(unicodeText(), fc.string(), (front, back) => {
      for (const id of [front, `${front}~${back}`, `call_1~${Buffer.from(front).toString("base64url")}`]) {
        expect(seal.openCallId(id).thoughts).toEqual([]);
      }
    }),
  );
  const id = seal.sealCallId("call_1", [thought]);
  for (let index = 7; index < id.length; index += 1) {
    const letter = id[index] === "A" ? "B" : "A";
    const changed = id.slice(0, index) + letter + id.slice(index + 1);
    // The last character has unused bits.
    if (index < id.length - 1) expect(seal.openCallId(changed).thoughts).toEqual([]);
  }
});
