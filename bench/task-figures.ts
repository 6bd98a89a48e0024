/** One measurement of tasks: the figure, its reference, and its goal. */
export type Figure = { what: string; figure: string; floor: string; goal: string; isMet: boolean | null };
