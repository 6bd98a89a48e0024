import { hideSpans, isSecretName, matchShapes, type Span } from "../../../lib/secret-shapes.ts";
import { groupThreads, joinLiterals, type Literal, readLiterals } from "./read-literals.ts";

/** JSON in a text of JSON, in a text of that; what is deeper no program sends. */
const depthMax = 3;

/**
 * Takes out of a text what looks like a secret: by its shape, or by the field that it is in; also where it is written with
 * escapes, or told in pieces by one event after another. The time that it takes grows with the text and no faster.
 */
export function redactText(text: string, { isEvents }: { isEvents: boolean }): { text: string; hidden: number } {
  return hideSpans(text, findSecrets(text, { isEvents, depth: 0 }));
}

function findSecrets(text: string, { isEvents, depth }: { isEvents: boolean; depth: number }): Span[] {
  const spans = matchShapes(text);
  if (depth === depthMax) return spans;
  const literals = readLiterals(text, { isByLine: isEvents });
  const isSecret = ({ field }: Literal): boolean => field !== null && isSecretName(field);
  for (const { start, end } of literals.filter(isSecret)) spans.push({ start, end });
  const escaped = literals.filter((literal) => literal.hasEscapes && !isSecret(literal));
  findWithin(
    text,
    escaped.map((literal) => [literal]),
    depth,
    spans,
  );
  if (isEvents) findWithin(text, groupThreads(literals), depth, spans);
  return spans;
}

/** Finds what the pieces of each thread say together, and adds where that stands. */
function findWithin(text: string, threads: readonly Literal[][], depth: number, spans: Span[]): void {
  if (threads.length === 0) return;
  const { text: joined, starts, ends } = joinLiterals(text, threads);
  for (const { start, end } of findSecrets(joined, { isEvents: false, depth: depth + 1 })) {
    for (let at = start; at < end; at += 1) spans.push({ start: starts[at] ?? 0, end: ends[at] ?? 0 });
  }
}
