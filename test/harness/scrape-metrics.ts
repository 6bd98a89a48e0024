/** One scrape of `/metrics`. */
export type Scrape = {
  text: string;
  contentType: string | null;
  /** The value of a series by its full name, such as `sluice_tokens_total{model="a",direction="input"}`. */
  read(series: string): number | null;
  /** Every series with this prefix, with its value. */
  list(prefix: string): Record<string, number>;
};

export async function scrapeMetrics(port: number | null, headers: Record<string, string> = {}): Promise<Scrape> {
  const signal = AbortSignal.timeout(10_000);
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers, signal });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`Metrics are answered with ${response.status}: ${text}`);
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const values = new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(" ");
      return [line.slice(0, end), Number(line.slice(end + 1).replace("+Inf", "Infinity"))] as const;
    }),
  );
  return {
    text,
    contentType: response.headers.get("content-type"),
    read: (series) => values.get(series) ?? null,
    list: (prefix) => Object.fromEntries([...values].filter(([series]) => series.startsWith(prefix))),
  };
}
