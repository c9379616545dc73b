import { readLabelled } from './bench/detectors/labelled.ts';
import { scoreOfRanges } from './bench/detectors/score.ts';
import { PII_SUITE } from './bench/detectors/suites/pii.ts';
const set=readLabelled('pii'); const held=process.argv.includes('--held');
const texts = held?set.heldOut:set.tuning;
const judged=[] as any[]; for(const l of texts) judged.push({labelled:l,found:await PII_SUITE.find(l.text)});
for(const row of PII_SUITE.rows){const s=scoreOfRanges(judged,new Set(row.kinds)); console.log(row.name,s.labels,'recall',(s.recall*100).toFixed(1),'prec',(s.precision*100).toFixed(1),'exact',(s.exact*100).toFixed(1));
 if(!held) for(const [w,m] of [['missed',s.missed],['wrong',s.wrong]] as const) for(const {label,labelled} of m) console.log('   ',w,label.kind,JSON.stringify(labelled.text.slice(Math.max(0,label.start-40),label.start)+'⟦'+labelled.text.slice(label.start,label.end)+'⟧'+labelled.text.slice(label.end,label.end+30)));
 if(!held) for(const j of judged) for(const l of j.labelled.findings) if(row.kinds!.includes(l.kind)){const f=j.found.find((x:any)=>x.kind===l.kind&&x.start<l.end&&l.start<x.end); if(f&&(f.start!==l.start||f.end!==l.end)) console.log('    inexact',l.kind,JSON.stringify(j.labelled.text.slice(l.start,l.end)),'→',JSON.stringify(j.labelled.text.slice(f.start,f.end)));}
}
