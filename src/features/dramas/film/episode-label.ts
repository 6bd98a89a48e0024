const labels: Readonly<Record<string, (episode: number) => string>> = {
  zh: (episode) => `第${episode}集`,
  ja: (episode) => `第${episode}話`,
  de: (episode) => `Folge ${episode}`,
  fr: (episode) => `Épisode ${episode}`,
  es: (episode) => `Episodio ${episode}`,
  ar: (episode) => `الحلقة ${episode}`,
};

/** What the title card says below the title, in the language of the film. */
export function labelEpisode(episode: number, language: string): string {
  const code = language.toLowerCase().split(/[-_]/)[0] ?? "";
  return (Object.hasOwn(labels, code) ? labels[code] : undefined)?.(episode) ?? `Episode ${episode}`;
}
