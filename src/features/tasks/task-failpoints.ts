/** The points between two writes where a crash must do no harm. The crash test goes through them all. */
export const taskFailpoints = [
  "submission-written",
  "submission-answered",
  "claimed",
  "target-written",
  "submitted",
  "handle-written",
  "polled",
  "output-stored",
  "finish-written",
  "finished",
  "cancel-asked",
] as const;
/** Composite tasks have one more. */
type CompositeFailpoint = "steps-written";
/** Tests kill the process at these points. */
export type TaskFailpoint = (typeof taskFailpoints)[number] | CompositeFailpoint;
