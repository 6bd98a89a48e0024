/** The places between two writes where a crash must do no harm. One list, which the crash test goes through. */
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
/** Beside those, of composite tasks. */
type CompositeFailpoint = "steps-written";
/** Called where a task has got to. Tests let the process die there. */
export type TaskFailpoint = (typeof taskFailpoints)[number] | CompositeFailpoint;
