import type { Task } from "../../api/fetch-tasks.ts";
import { nameType } from "./model-labels.ts";

const charactersMax = 80;

/** A task's title: the start of its prompt, else its type. */
export function nameTask({ prompt = "", type }: Pick<Task, "prompt" | "type">): string {
  const text = prompt.replace(/\s+/g, " ").trim();
  if (text === "") return `${nameType(type)} task`;
  const characters = [...text];
  return characters.length <= charactersMax
    ? text
    : `${characters
        .slice(0, charactersMax - 1)
        .join("")
        .trimEnd()}…`;
}
