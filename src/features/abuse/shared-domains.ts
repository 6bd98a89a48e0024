/** Mail services that anybody uses: their domains say nothing about who signs up. */
const sharedDomains: ReadonlySet<string> = new Set(
  [
    "126.com 163.com aol.com bluewin.ch comcast.net daum.net fastmail.com foxmail.com free.fr freenet.de gmail.com",
    "gmx.at gmx.ch gmx.com gmx.de gmx.net googlemail.com hanmail.net hey.com hotmail.co.uk hotmail.com hotmail.de",
    "hotmail.es hotmail.fr hotmail.it icloud.com laposte.net libero.it live.com live.de live.fr mac.com mail.com mail.de",
    "mail.ru mailbox.org me.com msn.com naver.com orange.fr outlook.com outlook.de outlook.es outlook.fr outlook.jp pm.me",
    "posteo.de proton.me protonmail.com qq.com rediffmail.com seznam.cz sina.com t-online.de tuta.com tutanota.com uol.com.br",
    "wanadoo.fr web.de wp.pl yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com yahoo.com.br yahoo.de yahoo.es yahoo.fr yahoo.it",
    "yandex.com yandex.ru yeah.net zoho.com",
  ].flatMap((line) => line.split(" ")),
);

export function isSharedDomain(domain: string): boolean {
  return sharedDomains.has(domain);
}
