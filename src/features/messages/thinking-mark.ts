/**
 * The signature of thinking blocks from upstreams that do not sign theirs: clients only keep and send back signed
 * blocks. Blocks with this value are sent back to upstreams as plain reasoning text.
 */
export const unsignedThinkingMark = "sluice.unsigned-thinking.1";
