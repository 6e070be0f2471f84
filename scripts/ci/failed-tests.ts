/** Returns the failed tests of a JUnit report, as `FILE: NAME`. */
export function failedTests(xml: string): readonly string[] {
  return [...xml.matchAll(/<testcase ([^>]*[^>/])>([^]*?)<\/testcase>/g)]
    .filter(([, , inner = '']) => /<(?:failure|error)\b/.test(inner))
    .map(([, attributes = '']) => {
      const [, name = ''] = /\bname="([^"]*)"/.exec(attributes) ?? [];
      const [, file = ''] = /\bfile="([^"]*)"/.exec(attributes) ?? [];
      return `${file}: ${name}`;
    });
}
