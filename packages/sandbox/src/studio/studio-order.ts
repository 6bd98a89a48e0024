import type { MediaMachine } from "../../../../src/providers/adapter-tools.ts";
import type { GenerationInput, GenerationRequest } from "../../../../src/providers/generation.ts";

/** The order of a studio process, as JSON on its standard input. */
export type StudioOrder = {
  /** Without script words. */
  request: GenerationRequest;
  inputs: readonly { role: GenerationInput["role"]; contentType: string; path: string }[];
  /** The output folder. */
  folder: string;
  /** How to run ffmpeg; `null` if it is not needed. */
  machine: MediaMachine | null;
};

/** A process's report: one line of JSON on its standard output. */
export type StudioReport =
  | { kind: "progress"; percent: number }
  /** A finished file in the folder. */
  | { kind: "output"; type: "image" | "video" | "audio"; name: string }
  /** The order cannot be fulfilled. The message is for logs, `param` names the field at fault. */
  | { kind: "refusal"; message: string; param: string | null };

export type ReportStudio = (report: StudioReport) => void;

/** The order is impossible, such as an input image that is not an image. */
export class OrderRefusal extends Error {
  override readonly name = "OrderRefusal";
  readonly param: string | null;

  constructor(message: string, { param = null }: { param?: string | null } = {}) {
    super(message);
    this.param = param;
  }
}
