import fc from "fast-check";
import { expect, test } from "vitest";
import type { StepRecord, TaskOutput } from "../tasks/index.ts";
import { type StepName, stepNames } from "./drama-request.ts";
import { changeStep, completeStep, findStep, isDone } from "./drama-step.ts";

function stepsOf(...names: StepName[]): { steps: StepRecord[] } {
  return { steps: names.map((name) => ({ name, state: "queued", progress: 0, output: [], taskIds: {} })) };
}

const output = [{ type: "script", fileId: "file_1" } as unknown as TaskOutput];

test("an existing step is found, and a step that the drama skips counts as done", () => {
  const task = stepsOf("roles", "storyboard");
  expect(findStep(task, "roles")).toMatchObject({ name: "roles" });
  expect(findStep(task, "script")).toBeNull();
  expect(isDone(null)).toBe(true);
  expect(isDone(findStep(task, "roles"))).toBe(false);
  expect(isDone(findStep(completeStep(task, "roles", output), "roles"))).toBe(true);
});

test("a change affects one step and does not modify the original task", () => {
  const task = stepsOf("script", "roles");
  const change = changeStep(task, "roles", { state: "processing", taskIds: { one: "task_1" } });
  expect(change.steps).toMatchObject([
    { name: "script", state: "queued", taskIds: {} },
    { name: "roles", state: "processing", taskIds: { one: "task_1" } },
  ]);
  expect(task).toEqual(stepsOf("script", "roles"));
});

test("a completed step has its output", () => {
  const [step] = completeStep(stepsOf("script"), "script", output).steps;
  expect(step).toMatchObject({ state: "succeeded", progress: 100, output });
});

test("each step counts by its weight", () => {
  let task = stepsOf(...stepNames);
  const shares = stepNames.map((name) => {
    const { steps, progress } = completeStep(task, name, []);
    task = { steps };
    return progress;
  });
  expect(shares).toEqual([5, 10, 25, 75, 85, 100]);
});

test("a drama with fewer steps is weighted by those it has", () => {
  expect(completeStep(stepsOf("script"), "script", []).progress).toBe(100);
  expect(completeStep(stepsOf("script", "roles"), "script", []).progress).toBe(50);
  expect(changeStep(stepsOf("shots", "speech", "film"), "shots", { progress: 50 }).progress).toBeCloseTo(33.33, 1);
});

test("a step's progress is a whole percentage and never decreases", () => {
  const first = changeStep(stepsOf("shots"), "shots", { progress: 41.9 });
  expect(first.steps[0]?.progress).toBe(41);
  expect(changeStep(first, "shots", { progress: 3 }).steps[0]?.progress).toBe(41);
  expect(changeStep(first, "shots", { state: "processing" }).steps[0]?.progress).toBe(41);
});

test("for any sequence of reports, the progress is from 0 to 100 and never decreases", () => {
  const report = fc.record({
    name: fc.constantFrom(...stepNames),
    progress: fc.double({ min: 0, max: 100, noNaN: true }),
    isDone: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.subarray([...stepNames], { minLength: 1 }), fc.array(report), (names, reports) => {
      let task = stepsOf(...names);
      let last = 0;
      for (const { name, progress, isDone: isComplete } of reports) {
        const change = isComplete ? completeStep(task, name, []) : changeStep(task, name, { progress });
        expect(change.progress).toBeGreaterThanOrEqual(last);
        expect(change.progress).toBeLessThanOrEqual(100);
        last = change.progress;
        task = change;
      }
    }),
  );
});
