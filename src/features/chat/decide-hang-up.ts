/** What is known of a call when its caller hangs up. */
export type HungUpCall = {
  /** An upstream was asked. */
  isSent: boolean;
  /** An upstream has begun to answer. */
  isAccepted: boolean;
  /** All that the upstream writes is seen as it is written. */
  isVisible: boolean;
  /** What it was sent can be counted by us, or was counted by the upstream already. */
  isInputKnown: boolean;
  /** The upstream tells its usage again and again, and told it with the last that came. */
  reportsUsage: boolean;
  /** Every choice has ended; only the usage is still to come. */
  isComplete: boolean;
};

/**
 * What becomes of an upstream whose answer nobody waits for. It is cancelled only where what it has cost is known without
 * it; else it is read to its end for the usage that it reports there, so that nobody pays less for hanging up than for
 * listening.
 */
export function decideHangUp(call: HungUpCall): "cancel" | "drain" {
  if (!call.isSent) return "cancel";
  if (call.isComplete) return "drain";
  if (call.reportsUsage) return "cancel";
  // What has not been accepted costs nothing; but a whole answer is accepted and finished at the same moment.
  return call.isVisible && (call.isInputKnown || !call.isAccepted) ? "cancel" : "drain";
}
