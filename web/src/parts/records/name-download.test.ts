import { expect, test } from "vitest";
import { nameDownload } from "./name-download.ts";

const created = Date.parse("2026-11-15T12:00:00Z") / 1000;
const task = { model: "sandbox-image", created, output: [] };

test.each([
  ["A lighthouse, at dusk!", "sandbox-image-a-lighthouse-at-dusk-2026-11-15"],
  ["Ein Café am Meer bei Nacht und Nebel", "sandbox-image-ein-café-am-meer-bei-nacht-2026-11-15"],
  ["../../etc", "sandbox-image-etc-2026-11-15"],
  [undefined, "sandbox-image-2026-11-15"],
])("the output of %j is named %s", (prompt, name) => {
  expect(nameDownload({ ...task, prompt })).toBe(name);
});

test("the model is part of the name, and several outputs are numbered", () => {
  const output = Array.from({ length: 2 }, () => ({}) as never);
  expect(nameDownload({ ...task, model: "vendor/image-1.5", output }, 1)).toBe("vendor-image-1.5-2026-11-15-2");
});
