/**
 * How a model chooses among routes of the same priority. Without a policy, by weight alone.
 *
 * | policy     | prefers                                                            |
 * |------------|--------------------------------------------------------------------|
 * | `fastest`  | the routes that answer soonest; others get a twentieth, to measure |
 * | `balanced` | faster and cheaper routes, in proportion                           |
 * | `cheapest` | the lowest `cost`, the next while that one cannot be called        |
 */
export const routePolicies = ["fastest", "balanced", "cheapest"] as const;
export type RoutePolicy = (typeof routePolicies)[number];

/** `first`: from a call to the first data of its stream. `whole`: to a whole answer, or to the end of a job. */
export type PaceForm = "first" | "whole";

/** What this process has measured of a target, and the share of calls that follows from it. */
export type RoutePace = {
  /** Multiplies the target's weight. Read on every call, and changed only when targets have become faster or slower. */
  readonly share: number;
  noteAnswer(form: PaceForm, tookMs: number, nowMs: number): void;
  noteFailure(nowMs: number): void;
};

type Measured = { logMs: number; samples: number; atMs: number };
type Member = RoutePace & {
  share: number;
  cost: number | null;
  series: Record<PaceForm, Measured>;
  /** The share of calls that failed lately. */
  failed: number;
  /** Its distance from the best, in doublings; changes only by more than a step, so that conversations stay. */
  level: number;
};

const samplesMin = 5;
const newest = 0.15;
const apartMax = 2;
/** Measurements this old count half. */
const halfLifeMs = 60_000;
/** Without a measurement for so long a target counts as unknown, and gets its usual share again. */
const forgottenMs = 600_000;
const rankEveryMs = 1_000;
const exploredShare = 0.05;
/** In doublings: a target counts as slower from 1.5 times, and as equal again below 1.25 times the best. */
const slowerFrom = Math.log2(1.5);
const equalBelow = Math.log2(1.25);
const stepMin = 0.75;
const levelMax = 4;
const answeredMin = 0.1;
/** So much less that the next cheapest serves only if this one cannot. */
const nextCheapest = 1e-6;

/** One pace for each target, in the same order. They are compared with each other only. */
export function createRoutePaces(policy: RoutePolicy, costs: readonly (number | null)[]): RoutePace[] {
  let rankedAtMs = Number.NEGATIVE_INFINITY;

  function rankIfDue(nowMs: number): void {
    if (nowMs - rankedAtMs < rankEveryMs) return;
    rankedAtMs = nowMs;
    rank(policy, members, nowMs);
  }

  const members = costs.map((cost): Member => {
    const member: Member = {
      ...{ share: 1, cost, failed: 0, level: 0 },
      series: { first: createMeasured(), whole: createMeasured() },
      noteAnswer(form, tookMs, nowMs) {
        measure(member.series[form], tookMs, nowMs);
        member.failed -= newest * member.failed;
        rankIfDue(nowMs);
      },
      noteFailure(nowMs) {
        member.failed += newest * (1 - member.failed);
        rankIfDue(nowMs);
      },
    };
    return member;
  });
  rank(policy, members, 0);
  return members;
}

function createMeasured(): Measured {
  return { logMs: 0, samples: 0, atMs: 0 };
}

/** A moving average of the logarithm, in which no answer counts as more than four times the average. */
function measure(measured: Measured, tookMs: number, nowMs: number): void {
  const logMs = Math.log2(Math.max(1, tookMs));
  const aged = 1 - (1 - newest) * 0.5 ** ((nowMs - measured.atMs) / halfLifeMs);
  const isFirst = measured.samples < samplesMin;
  const apart = logMs - measured.logMs;
  measured.logMs += isFirst ? apart / (measured.samples + 1) : aged * Math.max(-apartMax, Math.min(apartMax, apart));
  measured.samples += 1;
  measured.atMs = nowMs;
}

function rank(policy: RoutePolicy, members: readonly Member[], nowMs: number): void {
  if (policy === "cheapest") {
    const costs = [...new Set(members.map(({ cost }) => cost ?? Number.POSITIVE_INFINITY))].toSorted((a, b) => a - b);
    for (const member of members) {
      member.share = nextCheapest ** costs.indexOf(member.cost ?? Number.POSITIVE_INFINITY);
    }
    return;
  }
  const slowness = compareSpeed(members, nowMs);
  for (const [index, member] of members.entries()) {
    const behind = slowness[index] ?? 0;
    if (policy === "fastest") {
      if (behind > slowerFrom || behind < equalBelow) member.level = behind > slowerFrom ? 1 : 0;
      member.share = member.level === 0 ? 1 : exploredShare;
    } else {
      if (Math.abs(behind - member.level) > stepMin) member.level = Math.min(levelMax, Math.round(behind));
      member.share = 2 ** -(member.level + compareCost(member, members));
    }
  }
}

/** How much slower each is than the best, in doublings, failures included; 0 if that is not known. */
function compareSpeed(members: readonly Member[], nowMs: number): number[] {
  const isKnown = ({ samples, atMs }: Measured): boolean => samples >= samplesMin && nowMs - atMs < forgottenMs;
  const known = (form: PaceForm): Member[] => members.filter(({ series }) => isKnown(series[form]));
  // Streams and whole answers do not compare.
  const form: PaceForm = known("first").length >= known("whole").length ? "first" : "whole";
  const score = ({ series, failed }: Member): number =>
    series[form].logMs - Math.log2(Math.max(answeredMin, 1 - failed));
  const best = Math.min(...known(form).map(score));
  return members.map((member) => (isKnown(member.series[form]) ? score(member) - best : 0));
}

/** How much dearer it is than the cheapest, in doublings. */
function compareCost({ cost }: Member, members: readonly Member[]): number {
  const costs = members.flatMap((member) => (member.cost === null || member.cost === 0 ? [] : [member.cost]));
  if (cost === null || cost === 0 || costs.length === 0) return 0;
  return Math.log2(cost / Math.min(...costs));
}
