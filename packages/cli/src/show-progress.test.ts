import { expect, test } from "vitest";
import { presentBar } from "./show-progress.ts";
import type { TaskAnswer } from "./task-answer.ts";

function createTask(more: Partial<TaskAnswer>): TaskAnswer {
  const usage = { total_units: 0 };
  const task = {
    id: "task_1",
    type: "drama",
    model: "a",
    status: "processing",
    progress: 50,
    output: [],
    usage,
    created: 0,
  };
  return { ...(task as TaskAnswer), ...more };
}

test("the bar shows the progress and the elapsed time", () => {
  const bar = presentBar(createTask({}), { seconds: 75, columns: 100 });
  expect(bar).toBe("████████████░░░░░░░░░░░░  50 %  01:15  processing");
  expect(presentBar(createTask({ progress: 0 }), { seconds: 0, columns: 100 })).toMatch(/^░{24} {3}0 % {2}00:00/);
});

test("the bar names a drama's step and a queued task's position", () => {
  const steps = ["succeeded", "processing", "queued"].map((status, index) => ({
    name: `step-${index}`,
    status,
    progress: 0,
  }));
  expect(presentBar(createTask({ steps }), { seconds: 0, columns: 100 })).toContain("step-1, step 2 of 3");
  const waiting = createTask({ status: "queued", progress: 0, queue_position: 4 });
  expect(presentBar(waiting, { seconds: 0, columns: 100 })).toContain("queued, number 4");
});

test.for([1, 10, 20, 30, 40, 80])("the bar is shorter than a line of %i columns", (columns) => {
  const steps = [{ name: "a-step-with-a-long-name", status: "processing", progress: 0 }];
  expect(presentBar(createTask({ steps }), { seconds: 0, columns }).length).toBeLessThan(Math.max(columns, 1));
});

test("the bar contains no control characters", () => {
  const steps = [{ name: "\x1b[2Jevil", status: "processing", progress: 0 }];
  expect(presentBar(createTask({ steps }), { seconds: 0, columns: 100 })).not.toContain("\x1b");
});
