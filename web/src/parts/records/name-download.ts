import type { Task } from "../../api/fetch-tasks.ts";

const wordsMax = 6;

type Named = Pick<Task, "model" | "created" | "output"> & { prompt?: string | undefined };

/** File name of an output: model, first words of the prompt, and day. */
export function nameDownload({ model, prompt = "", created, output }: Named, index = 0): string {
  const words = prompt
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .slice(0, wordsMax);
  const day = new Date(created * 1000).toISOString().slice(0, 10);
  const number = output.length > 1 ? [String(index + 1)] : [];
  return [model.replaceAll(/[^\w.]+/g, "-"), ...words, day, ...number].join("-");
}
