import { presentTable } from "../write-results.ts";
import type { ChaosRun } from "./chaos.ts";
import type { Finding } from "./check-books.ts";
import { faultKinds } from "./fault-table.ts";
import { operationKinds } from "./operation.ts";

export function presentRun(run: ChaosRun, findings: readonly Finding[], seed: number): string {
  const { evidence, faults, longestGapMs, tookMs } = run;
  const { journal } = evidence;
  const faultRows = faultKinds.map((kind) => [kind, String(faults.filter((fault) => fault.kind === kind).length)]);
  const rows = operationKinds.map((kind) => {
    const entries = journal.filter(({ operation }) => operation.kind === kind);
    const count = (...endings: string[]) =>
      String(entries.filter(({ ending }) => endings.includes(ending.kind)).length);
    const again = String(entries.filter(({ sent }) => sent > 1).length);
    return [
      kind,
      String(entries.length),
      count("answered", "task"),
      again,
      count("broken"),
      count("refused"),
      count("cut"),
    ];
  });
  const countFindings = (kind: Finding["kind"]) => findings.filter((finding) => finding.kind === kind).length;
  return [
    `${faults.length} faults in ${(tookMs / 1000).toFixed(0)} s, seed ${seed}: ${journal.length} operations, ${evidence.books.charges.length} charges, ` +
      `**${countFindings("lost")} lost, ${countFindings("doubled")} doubled, ${countFindings("wrong")} wrong**; ` +
      `at most ${(longestGapMs / 1000).toFixed(1)} s without any successful call.`,
    presentTable(["fault", "injected"], faultRows),
    presentTable(["operation", "made", "ended well", "sent again", "broken off", "refused", "cut"], rows),
  ].join("\n\n");
}
