export type MediaKind = "image" | "audio" | "video" | "pdf";

export type InspectedMedia = {
  kind: MediaKind;
  contentType: string;
  width: number | null;
  height: number | null;
  durationMs: number | null;
};

export type Inspection =
  | { kind: "accepted"; media: InspectedMedia }
  /** `reason` continues "The file …"; `cause` is for the log. */
  | { kind: "refused"; reason: string; cause: unknown };

export function refuse(reason: string, cause?: unknown): Inspection {
  return { kind: "refused", reason, cause };
}
