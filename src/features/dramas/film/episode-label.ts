const labels: Readonly<Record<string, (episode: number) => string>> = {
  zh: (episode) => `第${episode}集`,
  ja: (episode) => `第${episode}話`,
  de: (episode) => `Folge ${episode}`,
  fr: (episode) => `Épisode ${episode}`,
  es: (episode) => `Episodio ${episode}`,
  ar: (episode) => `الحلقة ${episode}`,
};

/** The episode's label on the title card, in the film's language. */
export function labelEpisode(episode: number, language: string): string {
  const code = language.toLowerCase().split(/[-_]/)[0] ?? "";
  return (Object.hasOwn(labels, code) ? labels[code] : undefined)?.(episode) ?? `Episode ${episode}`;
}
