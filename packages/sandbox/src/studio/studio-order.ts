import type { MediaMachine } from "../../../../src/providers/adapter-tools.ts";
import type { GenerationRequest } from "../../../../src/providers/generation.ts";

/** What a process of the studio is told to make: all it needs, as JSON on its standard input. */
export type StudioOrder = {
  /** Without words of the script. */
  request: GenerationRequest;
  inputs: readonly { role: "image" | "person" | "audio"; contentType: string; path: string }[];
  /** Where it may write. */
  folder: string;
  /** Where ffmpeg is and how it is started; `null` where it is not needed. */
  machine: MediaMachine | null;
};

/** What it says of its work: one line of JSON each on its standard output. */
export type StudioReport =
  | { kind: "progress"; percent: number }
  /** A file in the folder, finished. */
  | { kind: "output"; type: "image" | "video" | "audio"; name: string }
  /** What was ordered cannot be made. The message is for logs. */
  | { kind: "refusal"; message: string };

export type ReportStudio = (report: StudioReport) => void;

/** The order asks for what no studio could make, such as an image of a file that is none. */
export class OrderRefusal extends Error {
  override readonly name = "OrderRefusal";
}
