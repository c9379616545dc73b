# Writes packages/regex/src/unicode-data.ts: the Unicode properties that Python's `re` uses.
#   python3.11 conformance/regex/unicode-data.py > packages/regex/src/unicode-data.ts
import _sre, sys, unicodedata
B='0123456789abcdefghijklmnopqrstuvwxyz'
def b36(n):
    s=''
    neg=n<0; n=abs(n)
    while True:
        s=B[n%36]+s; n//=36
        if n==0: break
    return ('-' if neg else '')+s
def runs(test):
    out=[];prev=0;inside=False
    for c in range(0x110001):
        now = c<0x110000 and test(chr(c))
        if now!=inside:
            out.append(b36(c-prev)); prev=c; inside=now
    return ','.join(out)
word=runs(lambda s: s.isalnum() or s=='_')
digit=runs(str.isdecimal)
space=runs(str.isspace)
pairs=[(c,_sre.unicode_tolower(c)) for c in range(0x110000) if _sre.unicode_tolower(c)!=c]
# runs: (first - previous first), step, count, shift
cases=[];i=0
while i<len(pairs):
    c,l=pairs[i]; shift=l-c; best=(1,1)
    for step in (1,2):
        n=1
        while i+n<len(pairs) and pairs[i+n]==(c+step*n,c+step*n+shift): n+=1
        if n>best[0]: best=(n,step)
    cases.append((c,best[1],best[0],shift)); i+=best[0]
prev=0;out=[]
for c,s,n,d in cases:
    out.append(f'{b36(c-prev)},{s},{b36(n)},{b36(d)}'); prev=c
from re._casefix import _EXTRA_CASES as X
extra=';'.join(','.join(b36(x) for x in (k,)+v) for k,v in sorted(X.items()))
def lines(name, doc, value, width=100):
    parts=[value[i:i+width] for i in range(0,len(value),width)]
    body='\n'.join(f"  '{p}'{',' if k==len(parts)-1 else ' +'}" for k,p in enumerate(parts))
    body=body.rstrip(',')
    return f"/** {doc} */\nexport const {name} =\n{body};\n"
print(f"""/**
 * What Python's `re` knows of Unicode ({unicodedata.unidata_version}, Python {sys.version.split()[0]}), so that a pattern means the same on every
 * host. Numbers in base 36. Written by `conformance/regex/unicode-data.py`; not edited.
 *
 * Ring 0.
 */
""")
print(lines('WORD_RUNS','`\\\\w`: where the property changes, each as the distance from the change before it.',word))
print(lines('DIGIT_RUNS','`\\\\d`, likewise.',digit))
print(lines('SPACE_RUNS','`\\\\s`, likewise.',space))
print(lines('LOWER_RUNS','Letters with a lower case: distance from the first of the run before, step, count, distance to the lower case.',';'.join(out)))
print(lines('CASE_RELATIVES','A lower case, and further ones that count as the same letter.',extra),end='')
