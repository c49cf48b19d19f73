import { rows } from './panels.js';
import { type Matcher, ofVerdicts, verdicts } from './queries.js';

export const verdictTable = (description: string, ...matchers: Matcher[]) =>
  rows({
    title: 'Verdicts',
    description,
    unit: 'none',
    labels: [
      ['kernel_base', 'Base kernel'],
      ['kernel_new', 'New kernel'],
      ['subsystem', 'Subsystem'],
      ['op', 'Operation'],
      ['outcome', 'Outcome'],
      ['verdict', 'Verdict'],
    ],
    targets: [
      [verdicts(...matchers)],
      [ofVerdicts('swaplock_verdict_ratio', ...matchers), 'Ratio'],
      [ofVerdicts('swaplock_verdict_ratio_lower', ...matchers), 'Lower'],
      [ofVerdicts('swaplock_verdict_ratio_upper', ...matchers), 'Upper'],
      [ofVerdicts('swaplock_verdict_p_value', ...matchers), 'p'],
      [ofVerdicts('swaplock_verdict_detectable_ratio', ...matchers), 'Detectable'],
      [ofVerdicts('swaplock_verdict_alerts', ...matchers), 'Alerts'],
    ],
    decimals: { Ratio: 2, Lower: 2, Upper: 2, Detectable: 2 },
    units: { p: 'sci' },
    colors: { Verdict: { regression: 'red', improvement: 'green' } },
  });
