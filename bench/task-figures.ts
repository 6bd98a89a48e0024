/** One line of what was measured of tasks: the figure, what it is measured beside, and what it should be. */
export type Figure = { what: string; figure: string; floor: string; goal: string; isMet: boolean | null };
