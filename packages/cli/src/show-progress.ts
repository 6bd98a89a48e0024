import { cleanText } from "./paint.ts";
import { isFinal, type TaskAnswer } from "./task-answer.ts";
import type { Terminal } from "./terminal.ts";

export type Progress = {
  show(task: TaskAnswer): void;
  /** Clears the line. */
  end(): void;
};

const barWidthMax = 24;
const barWidthMin = 5;
const redrawEveryMs = 1000;
const clearLine = "\r\x1b[K";

/** A progress bar on a terminal, otherwise one line per change. */
export function createProgress(terminal: Terminal): Progress {
  if (terminal.isJson) return { show: () => {}, end: () => {} };
  return terminal.isErrorTerminal ? createBar(terminal) : createLines(terminal);
}

function createBar(terminal: Terminal): Progress {
  const startedMs = performance.now();
  let task: TaskAnswer | null = null;
  const draw = (): void => {
    if (task === null) return;
    const seconds = Math.floor((performance.now() - startedMs) / 1000);
    terminal.draw(`${clearLine}${presentBar(task, { seconds, columns: terminal.columns() })}`);
  };
  // Redraw the elapsed time.
  const timer = setInterval(draw, redrawEveryMs);
  return {
    show(latest) {
      task = latest;
      draw();
    },
    end() {
      clearInterval(timer);
      terminal.draw(clearLine);
    },
  };
}

function createLines(terminal: Terminal): Progress {
  let last = "";
  return {
    show(task) {
      const line = isFinal(task) ? "" : `${task.id}: ${describeWork(task)}`;
      if (line !== "" && line !== last) terminal.tell(cleanText(line));
      last = line;
    },
    end: () => {},
  };
}

/** Always fits one line, because a wrapped line cannot be redrawn. */
export function presentBar(task: TaskAnswer, { seconds, columns }: { seconds: number; columns: number }): string {
  const tail = ` ${String(task.progress).padStart(3)} %  ${presentTime(seconds)}  ${describeWork(task)}`;
  const width = Math.min(barWidthMax, columns - tail.length - 1);
  if (width < barWidthMin) return cleanText(tail.trimStart()).slice(0, Math.max(0, columns - 1));
  const full = Math.round((width * task.progress) / 100);
  return cleanText(`${"█".repeat(full)}${"░".repeat(width - full)}${tail}`);
}

function describeWork(task: TaskAnswer): string {
  if (task.status === "queued" && task.queue_position !== undefined) return `queued, number ${task.queue_position}`;
  const step = task.steps?.find(({ status }) => status === "processing");
  if (step === undefined) return task.status;
  const done = task.steps?.filter(({ status }) => status === "succeeded").length ?? 0;
  return `${step.name}, step ${done + 1} of ${task.steps?.length}`;
}

function presentTime(seconds: number): string {
  return `${String(Math.floor(seconds / 60)).padStart(2, "0")}:${String(seconds % 60).padStart(2, "0")}`;
}
