import { hideSpans, isSecretName, matchShapes, type Span } from "../../../lib/secret-shapes.ts";
import { groupThreads, joinLiterals, type Literal, readLiterals } from "./read-literals.ts";

/** JSON strings within JSON strings; no program nests deeper. */
const depthMax = 3;

/**
 * Redacts what looks like a secret, by its shape or its field name, also behind escapes or split over several stream
 * events. Runs in linear time.
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

/** Searches the joined pieces of each thread, and adds the spans of what it finds. */
function findWithin(text: string, threads: readonly Literal[][], depth: number, spans: Span[]): void {
  if (threads.length === 0) return;
  const { text: joined, starts, ends } = joinLiterals(text, threads);
  for (const { start, end } of findSecrets(joined, { isEvents: false, depth: depth + 1 })) {
    for (let at = start; at < end; at += 1) spans.push({ start: starts[at] ?? 0, end: ends[at] ?? 0 });
  }
}
