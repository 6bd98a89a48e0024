/** The points between two writes where a crash must do no harm, in addition to those of its tasks. */
export const dramaFailpoints = [
  "steps-written",
  "document-written",
  "document-kept",
  "film-made",
  "film-kept",
] as const;
export type DramaFailpoint = (typeof dramaFailpoints)[number];
