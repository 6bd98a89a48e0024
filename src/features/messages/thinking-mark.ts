/**
 * What stands for a signature on the thoughts of upstreams that do not sign theirs: clients keep thoughts only with one,
 * and send both back. Thoughts that carry it go back as plain text, to upstreams that want them so.
 */
export const unsignedThinkingMark = "sluice.unsigned-thinking.1";
