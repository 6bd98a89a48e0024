import { expect, test } from "vitest";
import { type ChoicesForm, createKnownForms, learnForm } from "./choices-form.ts";

const writeChoices = (index: number, text: string): string =>
  JSON.stringify([{ index, delta: { content: text }, finish_reason: null }]);

function learn(index: number): ChoicesForm {
  const form = learnForm(writeChoices(index, "Hi"));
  if (form === null) throw new Error("Nothing was learned.");
  return form;
}

test("a form is found again for choices with any text", () => {
  const forms = createKnownForms();
  forms.add(learn(0));
  expect(forms.find(writeChoices(0, 'Say "hello"\n'))).toMatchObject({ indexes: [0] });
  expect(forms.find(writeChoices(1, "Hi"))).toBeNull();
  expect(forms.find(writeChoices(0, "Hi").replace("null", '"stop"'))).toBeNull();
});

test("forms that are used again stay, however many one-off forms there are", () => {
  const forms = createKnownForms();
  const [used, ...others] = Array.from({ length: 100 }, (_, index) => learn(index));
  if (used === undefined) throw new Error("There is one.");
  for (const form of others.slice(0, 15)) forms.add(form);
  forms.add(used);
  expect(forms.find(writeChoices(0, "again"))).toBe(used);
  for (const form of others) forms.add(form);
  expect(forms.find(writeChoices(0, "and again"))).toBe(used);
});

test("nothing is learned from choices with long surroundings", () => {
  const choices = [{ index: 0, delta: { content: "Hi" }, logprobs: { content: [{ token: "x".repeat(2000) }] } }];
  expect(learnForm(JSON.stringify(choices))).toBeNull();
});
