const stepsMax = 4;
const niceSteps = [1, 2, 2.5, 5, 10];

export type ChartScale = {
  ticks: number[];
  /** How many digits behind the point the ticks need, to differ from each other. */
  digits: number;
};

/** Round numbers from zero to just above the highest of what is shown; whole ones for what comes in wholes. */
export function chooseScale(highest: number, kind: "any" | "whole" = "any"): ChartScale {
  const top = Math.max(highest, kind === "whole" ? stepsMax : 0);
  if (top <= 0) return { ticks: [0, 1], digits: 0 };
  const exponent = Math.floor(Math.log10(top / stepsMax));
  // What floating numbers lose must not add a tick.
  const factor = niceSteps.find((each) => each * 10 ** exponent * stepsMax >= top * (1 - 1e-9)) ?? 10;
  const digits = Math.max(0, -exponent + (factor === 2.5 ? 1 : 0) - (factor === 10 ? 1 : 0));
  const step = kind === "whole" ? Math.ceil(factor * 10 ** exponent) : factor * 10 ** exponent;
  const count = Math.max(1, Math.ceil((highest / step) * (1 - 1e-9)));
  return {
    ticks: Array.from({ length: count + 1 }, (_, index) => index * step),
    digits: kind === "whole" ? 0 : digits,
  };
}
