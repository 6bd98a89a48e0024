import { createHash } from "node:crypto";

const alternatives = " the, a, of, and, to, in, is, it, that, for, as, with, on, be, at, by, this, or, an, not".split(
  ",",
);
/** Half of what is left each time: no list of alternatives is likelier than certain. */
const alternativeLogprobStep = Math.log(2);

type Logprob = { token: string; logprob: number; bytes: number[] };

/** How sure the model is of a token: made up from the token and its place, so that it is always the same. */
export function presentLogprob(token: string, index: number, count: number): Logprob & { top_logprobs: Logprob[] } {
  const chance = createHash("sha1").update(`${index}:${token}`).digest().readUInt16BE(0) / 0x1_0000;
  // Between 0.6 and 1, so that the token is the likeliest of all.
  const probability = 0.6 + 0.39 * chance;
  const own = describe(token, Math.log(probability));
  const others = alternatives
    .filter((other) => other !== token)
    .map((other, rank) => describe(other, Math.log(1 - probability) - (rank + 1) * alternativeLogprobStep));
  return { ...own, top_logprobs: [own, ...others].slice(0, count) };
}

function describe(token: string, logprob: number): Logprob {
  return { token, logprob: Number(logprob.toFixed(6)), bytes: [...Buffer.from(token)] };
}
