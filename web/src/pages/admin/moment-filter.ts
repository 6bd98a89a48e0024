/** The search parameters `from` and `to`: times that other pages put into links. */
export function readPeriod({ from, to }: { [name: string]: string | undefined }): { from?: string; to?: string } {
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}
